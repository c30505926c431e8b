"""The arrays of this room: which numbers, how wide.

A page within a link file is 32 bits wide (4.29 billion pages), a place among the links 64 bits (more than 2^31 links).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Pages = NDArray[np.uint32]
Offsets = NDArray[np.uint64]
Degrees = NDArray[np.uint32]
Reals = NDArray[np.float32] | NDArray[np.float64]
Ranks = NDArray[np.float64]
Ids = NDArray[np.int64]
Blocks = NDArray[np.int64]

MOST_PAGES: Final = 2**32 - 1
NOWHERE: Final = np.uint32(2**32 - 1)
"""A page that is not among the ranked ones."""
