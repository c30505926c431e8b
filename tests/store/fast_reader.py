"""FastWARC, imported without the warning it raises about its own old names."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator as FastIterator

__all__ = ["FastIterator"]
