"""Loaded by every Python process that has this folder on its path: plants the fault that NEPHILA_FAULT names."""

import os

if os.environ.get("NEPHILA_FAULT"):
    import disk_faults

    disk_faults.install(os.environ["NEPHILA_FAULT"])
