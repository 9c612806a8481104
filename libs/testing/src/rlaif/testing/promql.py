"""Metrics and labels in the Prometheus queries of rules and dashboards.

Reads the files of `deploy/monitoring` and extracts the metrics of each expression. A metric may be
selected by a pattern, `{__name__=~"rlaif_.+_check_ok"}`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import promql_parser
import yaml
from prometheus_client.parser import text_string_to_metric_families

INTERVAL = "5m"
"""Replaces Grafana's `$__rate_interval`, which is not PromQL."""


@dataclass(frozen=True)
class Asked:
    """One metric that an expression queries.

    Attributes:
        where: File and alert or panel.
        pattern: Matches the whole name of a metric.
        wanted: Label → pattern of its required value.
        unwanted: Labels with negative matchers.
    """

    where: str
    pattern: str
    wanted: Mapping[str, str]
    unwanted: frozenset[str]

    @property
    def labels(self) -> frozenset[str]:
        return self.unwanted | frozenset(self.wanted)

    def is_named(self, name: str) -> bool:
        return re.fullmatch(self.pattern, name) is not None

    def is_in(self, series: Iterable["Series"]) -> bool:
        """Whether any of these matches, including labels."""
        return any(
            self.is_named(each.name)
            and all(
                re.fullmatch(value, each.labels.get(label, ""))
                for label, value in self.wanted.items()
            )
            for each in series
        )


@dataclass(frozen=True)
class Series:
    """One line of a service's `/metrics`."""

    name: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Expression:
    """An expression of a rule or panel, and its location."""

    where: str
    text: str

    def asked(self) -> list[Asked]:
        """Return the metrics that it queries.

        Raises:
            ValueError: It is not valid PromQL.
        """
        selectors = [
            node for node in self._nodes() if isinstance(node, promql_parser.VectorSelector)
        ]
        return [_asked(self.where, selector) for selector in selectors]

    def grouped_by(self) -> set[str]:
        groups = [
            node.modifier
            for node in self._nodes()
            if isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None
        ]
        return {label for modifier in groups for label in modifier.labels}

    def _nodes(self) -> list[Any]:
        try:
            tree = promql_parser.parse(self.text.replace("$__rate_interval", INTERVAL))
        except ValueError as error:
            raise ValueError(f"{self.where}: {error} in {self.text}") from error
        found: list[Any] = []
        promql_parser.walk(tree, found.append)
        return found


def _asked(where: str, selector: Any) -> Asked:
    kinds = promql_parser.MatchOp
    wanted, unwanted = {}, set()
    for matcher in selector.matchers.matchers:
        if matcher.op == kinds.Equal:
            wanted[matcher.name] = re.escape(matcher.value)
        elif matcher.op == kinds.Re:
            wanted[matcher.name] = matcher.value
        else:
            unwanted.add(matcher.name)
    pattern = re.escape(selector.name) if selector.name else wanted.pop("__name__")
    return Asked(where, pattern, wanted, frozenset(unwanted))


def expressions(monitoring: Path) -> list[Expression]:
    """Every expression of the rules and dashboards in `deploy/monitoring`."""
    return [*_of_rules(monitoring), *_of_dashboards(monitoring)]


def _of_rules(monitoring: Path) -> Iterator[Expression]:
    for path in sorted((monitoring / "rules").glob("*.yaml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                yield Expression(f"{path.name}: {rule['alert']}", rule["expr"])


def _of_dashboards(monitoring: Path) -> Iterator[Expression]:
    for path in sorted((monitoring / "dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", ()):
                yield Expression(f"{path.name}: {panel['title']}", target["expr"])


def exposed(text: str) -> tuple[set[str], list[Series]]:
    """Parse a service's `/metrics`.

    Returns:
        The names of all series, including those of labelled metrics without a value, and the series
        with a value.
    """
    names, series = set(), []
    for family in text_string_to_metric_families(text):
        names |= {family.name + ending for ending in _ENDINGS[family.type]}
        series += [Series(each.name, each.labels) for each in family.samples]
    return names, series


_ENDINGS = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
    "summary": ("", "_sum", "_count"),
    "unknown": ("",),
}
