"""Reads what rules and dashboards ask Prometheus for: metrics, and the labels that they name.

In come the files of `deploy/monitoring`; out come the metrics that an expression needs. A name may
be given by a pattern, `{__name__=~"rlaif_.+_check_ok"}`.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import promql_parser
import yaml

INTERVAL = "5m"
"""Stands for Grafana's own `$__rate_interval`, which is no PromQL."""


@dataclass(frozen=True)
class Asked:
    """One metric that an expression asks for.

    Attributes:
        where: File and alert or panel.
        pattern: Matches the whole name of a metric.
        labels: Labels that the selector matches on.
    """

    where: str
    pattern: str
    labels: frozenset[str]

    def fits(self, name: str) -> bool:
        """Whether a metric of this name is asked for."""
        return re.fullmatch(self.pattern, name) is not None


@dataclass(frozen=True)
class Expression:
    """An expression of a rule or a panel."""

    where: str
    text: str

    def asked(self) -> list[Asked]:
        """The metrics that it asks for.

        Raises:
            ValueError: It is no PromQL.
        """
        found: list[Asked] = []

        def visit(node: Any) -> None:
            if isinstance(node, promql_parser.VectorSelector):
                matchers = {each.name: each.value for each in node.matchers.matchers}
                pattern = re.escape(node.name) if node.name else matchers["__name__"]
                found.append(Asked(self.where, pattern, frozenset(matchers) - {"__name__"}))

        promql_parser.walk(self._tree(), visit)
        return found

    def grouped_by(self) -> set[str]:
        """The labels that it groups by."""
        found: set[str] = set()

        def visit(node: Any) -> None:
            if isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
                found.update(node.modifier.labels)

        promql_parser.walk(self._tree(), visit)
        return found

    def _tree(self) -> Any:
        text = self.text.replace("$__rate_interval", INTERVAL)
        try:
            return promql_parser.parse(text)
        except ValueError as error:
            raise ValueError(f"{self.where}: {error} in {text}") from error


def expressions(monitoring: Path) -> Iterator[Expression]:
    """Every expression of the rules and dashboards in `deploy/monitoring`."""
    for path in sorted((monitoring / "rules").glob("*.yaml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                yield Expression(f"{path.name}: {rule['alert']}", rule["expr"])
    for path in sorted((monitoring / "dashboards").glob("*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", ()):
                yield Expression(f"{path.name}: {panel['title']}", target["expr"])
