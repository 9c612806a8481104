"""NetworkPolicies allow exactly the connections in the table of docs/architecture.md.

Everything is denied both ways, so a connection inside the namespace needs two policies: egress at
its source and ingress at its target. One to or from outside the namespace needs one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

import pytest

from rlaif.validate.manifests import Manifest

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
OVERLAYS = ("dev", "staging", "prod")
COMPONENTS = sorted(path.name for path in (DEPLOY / "components").iterdir() if path.is_dir())
SETS = {
    "services": ["trainer", "exporter", "judge", "reward-model", "hud"],
    "models": ["qwen25-7b", "qwen25-32b", "qwen25-vl-32b"],
}
"""Collective names in the table."""

ALL = "all"
"""Every workload, or every port."""

ANYWHERE = "anywhere"
"""Every address outside of the namespace."""

_NAMES = ("app.kubernetes.io/name", "app")
_NAMESPACE = "kubernetes.io/metadata.name"
_PEERS = {
    ("policy-group.network.openshift.io/ingress", ""): "router",
    ("network.openshift.io/policy-group", "monitoring"): "prometheus",
    (_NAMESPACE, "openshift-dns"): "dns",
    (_NAMESPACE, "openshift-storage"): "odf",
    ("k8s-app", "kube-dns"): "dns",
    ("gateway.networking.k8s.io/gateway-name", "openshift-ai-inference"): "gateway",
}
"""Label of a peer outside the namespace → its name in the table."""


@dataclass(frozen=True, order=True)
class Edge:
    """A connection; the port is a number or a named port."""

    source: str
    target: str
    port: str


@dataclass(frozen=True)
class Edges:
    """`open` connections, and `half` open ones: allowed by one side inside the namespace only."""

    open: frozenset[Edge]
    half: frozenset[Edge]


def edges(manifests: list[Manifest]) -> Edges:
    inside: dict[str, set[Edge]] = {"egress": set(), "ingress": set()}
    outside: set[Edge] = set()
    for each in manifests:
        if each.get("kind") != "NetworkPolicy":
            continue
        for direction, found in inside.items():
            for edge, is_inside in _of_policy(each["spec"], direction):
                (found if is_inside else outside).add(edge)
    out, into = inside["egress"], inside["ingress"]
    return Edges(frozenset((out & into) | outside), frozenset(out ^ into))


def _of_policy(spec: Manifest, direction: str) -> Iterator[tuple[Edge, bool]]:
    """Connections that one policy allows in one direction, and whether both ends are inside."""
    nothing: list[Manifest] = [{}]
    peers = "to" if direction == "egress" else "from"
    for rule in spec.get(direction) or ():
        ports = [str(port.get("port", ALL)) for port in rule.get("ports") or nothing]
        for peer in rule.get(peers) or nothing:
            is_inside = set(peer) == {"podSelector"}
            for own in _names(spec["podSelector"]):
                for other in _names(peer["podSelector"]) if is_inside else [_outside(peer)]:
                    ends = (own, other) if direction == "egress" else (other, own)
                    yield from ((Edge(*ends, port), is_inside) for port in ports)


def _names(selector: Manifest) -> list[str]:
    labels = selector.get("matchLabels") or {}
    for key in _NAMES:
        if key in labels:
            return [labels[key]]
    for expression in selector.get("matchExpressions") or ():
        if expression["key"] in _NAMES and expression["operator"] == "In":
            return list(expression["values"])
    return [ALL]


def _outside(peer: Manifest) -> str:
    """Name of a peer outside the namespace: its addresses or its namespace."""
    if "ipBlock" in peer:
        network = ip_network(peer["ipBlock"]["cidr"])
        return "private addresses" if network.is_private else ANYWHERE
    labels = {
        label: None
        for selector in ("podSelector", "namespaceSelector")
        for label in ((peer.get(selector) or {}).get("matchLabels") or {}).items()
    }
    for label in labels:
        if label in _PEERS:
            return _PEERS[label]
    named = _names(peer.get("podSelector") or {})
    if named != [ALL]:
        return named[0]
    return str(dict(labels.keys()).get(_NAMESPACE, ANYWHERE))


def documented() -> dict[str, set[Edge]]:
    """The table, by component."""
    page = (ROOT / "docs/architecture.md").read_text()
    table = page.partition("## Who may call whom on a cluster")[2].partition("\n## ")[0]
    found: dict[str, set[Edge]] = {}
    for line in table.splitlines():
        cells = [cell.strip().replace("*", "") for cell in line.strip("|").split("|")]
        if len(cells) != 5 or cells[0] in ("With", "---"):
            continue
        components, sources, destinations, ports = (cell.split(", ") for cell in cells[:4])
        for component in components:
            found.setdefault(component, set()).update(
                Edge(source, destination, port)
                for source in several(sources)
                for destination in several(destinations)
                for port in ports
            )
    return found


def several(names: list[str]) -> Iterator[str]:
    for name in names:
        yield from SETS.get(name, [name])


def test_the_base_allows_exactly_the_connections_of_the_table(rendered):
    assert edges(rendered["base"]).open == documented()["base"]


@pytest.mark.parametrize("component", [each for each in COMPONENTS if each != "image-pins"])
def test_a_component_adds_exactly_the_connections_of_the_table(component, rendered):
    base = edges(rendered["base"]).open
    opened = edges(rendered[f"components/{component}"]).open
    assert opened - base == documented().get(component, set()) - base


def test_the_table_names_only_existing_components():
    assert set(documented()) <= {"base", *COMPONENTS}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_connection_is_half_open(overlay, rendered):
    assert edges(rendered[f"overlays/{overlay}"]).half == set()
