"""A plot as SVG, written by hand: lines over one axis, with their names. No library draws this."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50
TICKS = 5


class Line(NamedTuple):
    name: str
    values: list[float]
    colour: str


def plot(title: str, axis: str, at: list[float], lines: Sequence[Line]) -> str:
    most = max([1.0, *(value for line in lines for value in line.values)]) * 1.05
    right = max(at)

    def x(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * value / right, 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / most, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{title}</text>',
    ]
    for nth in range(TICKS + 1):
        value = most * nth / TICKS
        parts.append(f'<path d="M{LEFT} {y(value)}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(value) + 4}" text-anchor="end">{value:.0f}</text>')
    for value in at:
        parts.append(f'<text x="{x(value)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:g}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{axis}</text>')
    for nth, line in enumerate(lines):
        points = " ".join(f"{x(a)},{y(b)}" for a, b in zip(at, line.values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{LEFT + 12}" y="{TOP + 14 + 16 * nth}" fill="{line.colour}">{line.name}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])
