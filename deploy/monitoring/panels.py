"""A dashboard as it is declared, and the JSON that Grafana reads.

In comes a `Dashboard`, rows of panels; out comes a dict. Places and numbers follow from the order.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

WIDTH = 24
"""Columns of Grafana's grid."""

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        title: What it shows; unique within its dashboard.
        asks: Expression → legend, such as `{{judge}}`.
        says: One sentence on how to read it.
        unit: Grafana's name of the unit, such as `s`, `percentunit`, `short`.
        kind: Lines over time, or the newest value in large digits.
        width: Columns of 24.
        minimum: Lower end of the axis.
        maximum: Upper end of the axis.
    """

    title: str
    asks: Mapping[str, str]
    says: str = ""
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 8
    minimum: float | None = 0
    maximum: float | None = None

    @property
    def height(self) -> int:
        """Rows of the grid."""
        return 4 if self.kind == "stat" else 8


@dataclass(frozen=True)
class Dashboard:
    """One file: `name` is its file and its id in links, `rows` are titles and their panels."""

    name: str
    title: str
    says: str
    rows: Mapping[str, tuple[Panel, ...]] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """The dashboard as Grafana reads it."""
        return {
            "uid": f"rlaif-{self.name}",
            "title": self.title,
            "description": self.says,
            "tags": ["zelda-rlaif"],
            "timezone": "browser",
            "schemaVersion": 39,
            "version": 1,
            "editable": False,
            "graphTooltip": 1,
            "refresh": "30s",
            "time": {"from": "now-6h", "to": "now"},
            "templating": {"list": [_DATASOURCE_CHOICE]},
            "links": [_LINKS],
            "panels": list(self._placed()),
        }

    def _placed(self) -> Iterator[dict[str, Any]]:
        number, down = 1, 0
        for title, panels in self.rows.items():
            yield _row(title, number, down)
            number, down, across, tallest = number + 1, down + 1, 0, 0
            for panel in panels:
                if across + panel.width > WIDTH:
                    down, across, tallest = down + tallest, 0, 0
                place = {"h": panel.height, "w": panel.width, "x": across, "y": down}
                yield _panel(panel, number, place)
                number, across = number + 1, across + panel.width
                tallest = max(tallest, panel.height)
            down += tallest


def quantiles(metric: str, by: str) -> dict[str, str]:
    """Half and nine in ten of a histogram's observations, for each value of a label."""
    rate = f"sum by ({by}, le) (rate({metric}_bucket[$__rate_interval]))"
    return {
        f"histogram_quantile({q}, {rate})": f"{{{{{by}}}}} {word}"
        for q, word in ((0.5, "half"), (0.9, "nine in ten"))
    }


def rates(metric: str, by: str) -> dict[str, str]:
    """Events per second of a counter, by label value."""
    return {f"sum by ({by}) (rate({metric}[$__rate_interval]))": f"{{{{{by}}}}}"}


_DATASOURCE_CHOICE = {
    "name": "datasource",
    "label": "Prometheus",
    "type": "datasource",
    "query": "prometheus",
    "current": {},
    "hide": 0,
}

_LINKS = {
    "title": "Zelda RLAIF",
    "type": "dashboards",
    "tags": ["zelda-rlaif"],
    "asDropdown": True,
    "keepTime": True,
}


def _row(title: str, number: int, down: int) -> dict[str, Any]:
    place = {"h": 1, "w": WIDTH, "x": 0, "y": down}
    return {"id": number, "type": "row", "title": title, "gridPos": place, "collapsed": False}


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit}
    if panel.minimum is not None:
        defaults["min"] = panel.minimum
    if panel.maximum is not None:
        defaults["max"] = panel.maximum
    if panel.kind == "timeseries":
        # A reading that did not come is a gap, not a line through it.
        defaults["custom"] = {"spanNulls": False, "fillOpacity": 8, "lineWidth": 1}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.says,
        "datasource": DATASOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": _OPTIONS[panel.kind],
        "targets": [
            {"refId": chr(ord("A") + i), "expr": ask, "legendFormat": legend}
            for i, (ask, legend) in enumerate(panel.asks.items())
        ],
    }


_OPTIONS: dict[str, dict[str, Any]] = {
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "stat": {
        "reduceOptions": {"calcs": ["lastNotNull"], "values": False},
        "colorMode": "value",
        "graphMode": "none",
        "textMode": "auto",
    },
}
