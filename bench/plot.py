"""A plot as SVG, written by hand: curves over two axes, with their names. No library draws this.

Rules of this file
  1. An axis is plain or by powers of ten; its marks are round numbers.
  2. What is given is drawn: no point is left out, and a value below a logarithmic axis stands at its foot.

Not here: what is measured, where the picture lies (page.py).
"""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 760, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 180, 40, 50
NAMES_AT = WIDTH - RIGHT + 16
TICKS = 5
BLUE, RED, GREEN, ORANGE, GREY = "#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#777777"


class Line(NamedTuple):
    name: str
    values: list[float]
    colour: str


class Curve(NamedTuple):
    name: str
    points: list[tuple[float, float]]
    colour: str
    dashed: bool = False


class Axis(NamedTuple):
    name: str
    low: float
    high: float
    by_tens: bool = False

    def share(self, value: float) -> float:
        """Where on the axis it stands, from 0 to 1."""
        if not self.by_tens:
            return (value - self.low) / ((self.high - self.low) or 1.0)
        return math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)

    def marks(self) -> list[float]:
        if not self.by_tens:
            step = _round((self.high - self.low) / TICKS)
            return [self.low + step * nth for nth in range(int((self.high - self.low) / step + 1e-9) + 1)]
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]


def _round(step: float) -> float:
    """The next step of 1, 2 or 5, so that marks are numbers that people count in."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(nice * power for nice in (1, 2, 5, 10) if nice * power >= step * 0.999)


def plain(name: str, values: Sequence[float]) -> Axis:
    return Axis(name, 0.0, max([1e-9, *values]) * 1.05)


def tens(name: str, values: Sequence[float]) -> Axis:
    """From the power of ten below to the one above."""
    above = [value for value in values if value > 0] or [1.0]
    low, high = math.floor(math.log10(min(above))), math.ceil(math.log10(max(above)))
    return Axis(name, 10.0**low, 10.0 ** max(high, low + 1), by_tens=True)


def chart(title: str, x: Axis, y: Axis, curves: Sequence[Curve], x_marks: Sequence[float] = ()) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    for value in y.marks():
        at = _down(y, value)
        parts.append(f'<path d="M{LEFT} {at}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4}" text-anchor="end">{_number(value)}</text>')
    for value in x_marks or x.marks():
        across = _across(x, value)
        parts.append(f'<path d="M{across} {HEIGHT - BOTTOM}v4" stroke="#777"/>')
        parts.append(
            f'<text x="{across}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{_number(value)}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x.name)}</text>'
    )
    parts.append(
        f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">{escape(y.name)}</text>'
    )
    for nth, curve in enumerate(curves):
        parts += _drawn(curve, x, y, nth)
    return "\n".join([*parts, "</svg>\n"])


def plot(title: str, axis: str, at: list[float], lines: Sequence[Line]) -> str:
    """Lines over the same places, from nought."""
    curves = [Curve(line.name, list(zip(at, line.values, strict=True)), line.colour) for line in lines]
    high = [1.0, *(value for line in lines for value in line.values)]
    return chart(title, Axis(axis, 0.0, max(at)), plain("", high), curves, at)


def cumulative(sample: Sequence[float]) -> list[tuple[float, float]]:
    """The share of a sample that is not above each of its values; long ones thinned to some hundred points."""
    ordered = sorted(sample)
    step = max(1, len(ordered) // 200)
    places = [*range(0, len(ordered), step), len(ordered) - 1]
    return [(ordered[at], (at + 1) / len(ordered)) for at in dict.fromkeys(places)]


def _drawn(curve: Curve, x: Axis, y: Axis, nth: int) -> list[str]:
    """The curve, and its name beside the picture with a piece of the same line."""
    points = " ".join(f"{_across(x, a)},{_down(y, b)}" for a, b in curve.points)
    style = f'fill="none" stroke="{curve.colour}" stroke-width="2"' + (
        ' stroke-dasharray="5 4"' if curve.dashed else ""
    )
    at = TOP + 14 + 18 * nth
    return [
        f'<polyline points="{points}" {style}/>',
        f'<path d="M{NAMES_AT} {at - 4}h22" {style}/>',
        f'<text x="{NAMES_AT + 28}" y="{at}" fill="{curve.colour}">{escape(curve.name)}</text>',
    ]


def _across(axis: Axis, value: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * axis.share(value), 1)


def _down(axis: Axis, value: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * axis.share(value), 1)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
