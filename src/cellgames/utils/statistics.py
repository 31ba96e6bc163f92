"""Statistics that several rooms use: quantiles, and intervals of shares, of means and by resampling."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, check_level

FloatArray: TypeAlias = NDArray[np.float64]


# ---------------------------------------------------------------- quantiles


def normal_quantile(level: float) -> float:
    """Return the z for which a share of `level` of the standard normal distribution lies between -z and z."""
    check_level(level)
    return statistics.NormalDist().inv_cdf((1 + level) / 2)


def student_t(level: float, freedom: float) -> float:
    """Return the t for which a share of `level` of Student's distribution lies between -t and t.

    It is exact for 1 and 2 degrees of freedom; for 4 or more it is the expansion of Cornish and Fisher, right to 1 %
    (Abramowitz and Stegun, 26.7.5).
    """
    if freedom <= 1:
        return math.tan(math.pi * level / 2)
    if freedom <= 2:
        return level * math.sqrt(2 / (1 - level**2))
    z = normal_quantile(level)
    series = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(series))


# ---------------------------------------------------------------- intervals


def wilson_interval(share: float, count: float, level: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a share of `count` independent trials; NaN for a share of NaN.

    It is made for trials that are won or lost. A draw, counted as half a win, varies less, so draws make the interval
    wider than it need be. (Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference",
    JASA 22)
    """
    z2 = normal_quantile(level) ** 2
    if math.isnan(share):
        return math.nan, math.nan
    if not (count > 0 and 0 <= share <= 1):
        raise InputError("share", "a share from 0 to 1 of a count > 0", f"{share} of {count}")
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    # Both terms are equal at the ends, but for rounding.
    return 0.0 if share == 0 else max(0.0, middle - half), 1.0 if share == 1 else min(1.0, middle + half)


def mean_interval(values: Sequence[float], *, few: bool = False) -> tuple[float, float]:
    """Return the 95 % interval of the mean of independent values, Student's if `few`, else normal; NaN below two."""
    if len(values) < 2:
        return math.nan, math.nan
    mean, quantile = statistics.fmean(values), student_t(0.95, len(values) - 1) if few else normal_quantile(0.95)
    margin = quantile * statistics.stdev(values) / math.sqrt(len(values))
    return mean - margin, mean + margin


# ---------------------------------------------------------------- resampling


def bootstrap_weights(generator: np.random.Generator, count: int, resamples: int) -> NDArray[np.int64]:
    """Return the counts of each of `count` units in each resample of `count` draws, int64 [resamples, count]."""
    return generator.multinomial(count, np.full(count, 1 / count), resamples)


def percentile_interval(resampled: ArrayLike, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper bound of resampled values along the first axis."""
    low, high = np.quantile(np.asarray(resampled), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def expanded_percentiles(level: float, count: int) -> tuple[float, float]:
    """Return the quantiles of resamples that bound an interval; resamples of few units vary too little.

    It is the expanded percentile interval of Hesterberg (2015, "What Teachers Should Know about the Bootstrap", The
    American Statistician 69): as far out as Student's t, times sqrt(n / (n - 1)), is in a normal distribution.
    """
    count = max(count, 2)
    tail = statistics.NormalDist().cdf(-math.sqrt(count / (count - 1)) * student_t(level, count - 1))
    return tail, 1 - tail
