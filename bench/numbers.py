"""Numbers of a sample: the median and the tail, and how they are written."""

from collections.abc import Sequence


def percentile(sample: Sequence[float], share: float) -> float:
    ordered = sorted(sample)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def median(sample: Sequence[float]) -> float:
    return percentile(sample, 0.5)


def ms(seconds: float) -> str:
    value = seconds * 1000
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


def times(value: float, base: float) -> str:
    """How many times the base."""
    ratio = value / base if base else float("inf")
    return f"×{ratio:.2f}" if ratio < 10 else f"×{ratio:,.0f}"
