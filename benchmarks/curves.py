"""Curves as an SVG picture, without a plotting library."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 420
LEFT, TOP, RIGHT, BOTTOM = 60, 36, 200, 44
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's, which colour-blind people tell apart."""

TICKS = 5


@dataclass(frozen=True)
class Curve:
    """Points `(x, y)` in order; y is at least 0. Points without a y are left out."""

    name: str
    points: Sequence[tuple[float, float | None]]
    dashed: bool = False
    grey: bool = False


def draw(curves: Sequence[Curve], *, title: str) -> str:
    """An SVG with axes from 0, a grid and a legend."""
    known = [(x, y) for curve in curves for x, y in curve.points if y is not None]
    most_x = max((x for x, _ in known), default=1.0) or 1.0
    most_y = (max((y for _, y in known), default=1.0) or 1.0) * 1.1
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return round(LEFT + x / most_x * across, 1), round(TOP + (1 - y / most_y) * down, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>',
    ]
    for tick in range(TICKS + 1):
        x, y = most_x * tick / TICKS, most_y * tick / TICKS
        column, row = at(x, 0)[0], at(0, y)[1]
        parts += [
            f'<line x1="{LEFT}" y1="{row}" x2="{LEFT + across}" y2="{row}" stroke="#ddd"/>',
            f'<text x="{LEFT - 6}" y="{row + 4}" text-anchor="end">{y:.3f}</text>',
            f'<text x="{column}" y="{TOP + down + 18}" text-anchor="middle">{x:,.0f}</text>',
        ]
    for number, curve in enumerate(curves):
        dashed = ' stroke-dasharray="4 3"' if curve.dashed else ""
        colour = "#888" if curve.grey else COLOURS[_family(curves, number) % len(COLOURS)]
        style = f'stroke="{colour}"{dashed} stroke-width="1.6" fill="none"'
        line = " ".join(f"{px},{py}" for px, py in (at(x, y) for x, y in _known(curve)))
        row = TOP + 10 + 18 * number
        parts += [
            f'<polyline points="{line}" {style}/>',
            f'<line x1="{WIDTH - RIGHT + 14}" y1="{row}" x2="{WIDTH - RIGHT + 38}" y2="{row}" '
            f"{style}/>",
            f'<text x="{WIDTH - RIGHT + 44}" y="{row + 4}">{escape(curve.name)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _known(curve: Curve) -> list[tuple[float, float]]:
    return [(x, y) for x, y in curve.points if y is not None]


def _family(curves: Sequence[Curve], number: int) -> int:
    """Solid and dashed curves take the colours in the same order."""
    before = curves[:number]
    return sum(each.dashed == curves[number].dashed and not each.grey for each in before)
