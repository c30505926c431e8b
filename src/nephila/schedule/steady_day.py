"""A few noisy days made into one that is to be expected: what differs by chance between them is taken out (S2-5).

The mean of d days is written as waves of 24, 12, 8 … hours. Chance alone gives each wave the power N·s², with N = 24
and s² the variance of the mean, which the days' differences tell. A wave of power P is kept with the share 1 − N·s²/P
of its height (none where that is negative), the best guess of what would come again (Wiener). A strong daily wave stays
as it is; the ripples of a flat day, which would make one of its hours the "best", shrink to nothing.
"""

from __future__ import annotations

import numpy as np

from nephila.schedule.policy import HOURS, Floats


def steady_day(days: Floats) -> Floats:
    """Sites × 24 from days × sites × 24; one day alone is believed as it is, because it tells nothing of chance."""
    mean: Floats = days.mean(axis=0)
    if len(days) < 2:
        return mean
    chance = HOURS * days.var(axis=0, ddof=1).mean(axis=1, keepdims=True) / len(days)
    waves = np.fft.rfft(mean, axis=1)
    share = np.clip(1 - chance / np.maximum(np.abs(waves) ** 2, 1e-30), 0.0, 1.0)
    share[:, 0] = 1.0  # the level is no wave
    steady: Floats = np.fft.irfft(waves * share, HOURS, axis=1)
    return steady
