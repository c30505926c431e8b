"""What S1 printed: the figures the generator aims at and `lab check` compares with (S1-26 .. S1-32)."""

from __future__ import annotations

from typing import Final

SEEDS: Final = 128_446

# Table 1 (S1-26): responses of seeds.
SEED_RESPONSES: Final = {"code": 5_259, "noIP": 4_726, "dTim/hTim": 609, "OK": 111_852, "rest": 6_000}

# Table 2 (S1-27): responses of all documents, seeds among them.
DOCUMENT_RESPONSES: Final = {
    "cErr": 78_316,
    "dErr/dTim": 26_448,
    "code": 6_133_913,
    "OK": 67_488_127,
    "rest": 227_310,
}

# Table 3 (S1-28): lengths of seed URLs (host) and of document URLs (what follows the site): least, most, mean.
SEED_LENGTH: Final = (5, 49, 17.38)
DOCUMENT_LENGTH: Final = (0, 255, 71.78)

# Table 4 (S1-29): labels of a host name; the paper's "rest" (12) is read as six labels.
LABELS: Final = {2: 4_405, 3: 55_918, 4: 67_301, 5: 810, 6: 12}

# Table 5 (S1-30): downloaded documents by steps of 256 KiB, and their mean size.
SIZE_STEP_BYTES: Final = 256 * 1024
SIZE_STEPS: Final = (67_437_167, 31_512, 8_358, 3_567, 3_474, 2_813, 561, 675)
MEAN_SIZE_BYTES: Final = 18_451
INVISIBLE_SHARE: Final = 0.76
COMPRESSED_SHARE: Final = 1 / 3

# Table 6 (S1-32): requested and downloaded documents by depth.
REQUESTED: Final = (128_446, 623_250, 3_348_544, 11_319_688, 24_054_489, 34_479_697)
DOWNLOADED: Final = (111_852, 556_768, 2_885_489, 10_005_216, 21_628_864, 32_299_938)

# 4.3: below the survey's depth, for the study's nine levels.
DEEPER_OFFSPRING: Final = 1.2
DEEPER_SUCCESS: Final = DOWNLOADED[5] / REQUESTED[5]

# Table 8 (S1-37): seeds by the number of batches, 0 .. 9, in which they were downloaded.
BATCHES_ALIVE: Final = (328, 6, 7, 3, 6, 7, 9, 12, 93, 953)

# Table 13 (S1-47): documents by link kinds.
LINK_KINDS: Final = {
    "000": 12_016,
    "00f": 2_104,
    "0a0": 35_478,
    "h00": 4_969,
    "h0f": 134,
    "ha0": 88_882,
    "haf": 15,
}


def offspring(depth: int) -> float:
    """New pages of the next depth per downloaded page (S1-32)."""
    if depth + 1 < len(REQUESTED):
        return REQUESTED[depth + 1] / DOWNLOADED[depth]
    return DEEPER_OFFSPRING


def success(depth: int) -> float:
    """Share of requested pages of a depth that are downloaded (S1-32)."""
    return DOWNLOADED[depth] / REQUESTED[depth] if depth < len(REQUESTED) else DEEPER_SUCCESS
