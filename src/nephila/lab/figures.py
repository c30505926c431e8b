"""What S1 printed: the figures the generator aims at and `lab check` compares with (S1-26 .. S1-32, S1-35 .. S1-47)."""

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

# Table 7 (S1-35): seeds of the study, those downloaded in each batch, and the means of documents per batch.
STUDY_SEEDS: Final = 1_424
SEEDS_DOWNLOADED: Final = (1_061, 1_068, 1_061, 1_056, 1_057, 1_058, 1_061, 1_066, 1_059)
DOCUMENTS_REQUESTED: Final = 1_413_601
DOCUMENTS_DOWNLOADED: Final = 1_213_550
BATCHES: Final = 9
PERIOD_DAYS: Final = 19.0

# Tables 9 and 10 (S1-42, S1-43): seeds, downloaded in all batches, changed, days between changes.
BY_DOMAIN: Final = {
    "kr": (761, 523, 179, 6.86),
    "com": (485, 320, 133, 6.32),
    "net": (116, 70, 25, 9.03),
    "org": (21, 14, 8, 6.24),
}
BY_SECOND_LEVEL: Final = {
    "ac.kr": (55, 37, 11, 10.65),
    "co.kr": (558, 379, 145, 6.16),
    "go.kr": (24, 18, 5, 9.98),
    "or.kr": (85, 63, 13, 8.88),
    "pe.kr": (16, 15, 3, 15.83),
}

# Table 11 (S1-44): documents of 142 seeds by the number of batches, 1 .. 9, in which they were downloaded.
SAMPLED_SEEDS: Final = 142
DOWNLOADS: Final = (159_210, 32_114, 16_319, 14_179, 9_408, 6_923, 5_899, 15_700, 61_035)

# Table 12 (S1-45): by depth, documents, those downloaded at least twice, days between changes.
BY_DEPTH: Final = (
    (128, 111, 7.66),
    (2_282, 1_493, 5.35),
    (19_972, 11_229, 5.81),
    (78_579, 33_490, 6.36),
    (88_943, 34_283, 4.85),
    (64_472, 31_391, 5.36),
    (47_176, 20_773, 5.21),
    (12_719, 6_359, 5.42),
    (4_391, 2_258, 4.95),
    (2_125, 1_494, 3.77),
)

# Table 13 (S1-47, I1-4): by link kinds, changed documents of those downloaded at least twice, days between changes.
BY_LINK_KINDS: Final = {
    "000": (203, 15.33),
    "00f": (48, 17.65),
    "0a0": (18_572, 4.36),
    "h00": (2_405, 10.13),
    "h0f": (29, 16.77),
    "ha0": (64_528, 6.31),
    "haf": (3, 19.0),
}

# 4.8, from S1-35, S1-44 and S1-45: below a downloaded page of each depth, requested pages of the next, in one batch of
# the study, and how many requests succeed. `bench/study_fit.py` finds them.
STUDY_OFFSPRING: Final = (18.7216, 6.3669, 3.7161, 1.2224, 0.9922, 0.7881, 0.3427, 0.4085, 0.7146)
STUDY_SUCCESS: Final = 0.8631

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


def offspring(depth: int, profile: str = "survey") -> float:
    """New pages of the next depth per downloaded page (S1-32; of the study, S1-45)."""
    if profile == "study":
        return STUDY_OFFSPRING[min(depth, len(STUDY_OFFSPRING) - 1)]
    if depth + 1 < len(REQUESTED):
        return REQUESTED[depth + 1] / DOWNLOADED[depth]
    return DEEPER_OFFSPRING


def success(depth: int, profile: str = "survey") -> float:
    """Share of requested pages of a depth that are downloaded (S1-32; of the study, S1-35)."""
    if profile == "study":
        return STUDY_SUCCESS if depth else 1.0  # the study's home pages are counted apart (S1-37)
    return DOWNLOADED[depth] / REQUESTED[depth] if depth < len(REQUESTED) else DEEPER_SUCCESS
