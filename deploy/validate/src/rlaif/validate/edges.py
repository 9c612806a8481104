"""Who may call whom: what the NetworkPolicies of a stream let through, by the names of workloads.

Everything is denied both ways, so a call inside the namespace needs two policies: one that lets it
out of its caller and one that lets it in to who answers. Of a call to or from outside, one side is
ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rlaif.validate.manifests import Manifest

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
"""Labels of what is outside of the namespace: the name that people know it by."""


@dataclass(frozen=True, order=True)
class Edge:
    """A call; the port is a number, or the name that the pods give it."""

    source: str
    target: str
    port: str


@dataclass(frozen=True)
class Edges:
    """What the policies of a stream say.

    Attributes:
        open: Calls that are let through.
        half: Calls inside the namespace that one policy lets through and no other one answers.
    """

    open: frozenset[Edge]
    half: frozenset[Edge]


def edges(manifests: list[Manifest]) -> Edges:
    """Read the policies of a stream."""
    inside: dict[str, set[Edge]] = {"egress": set(), "ingress": set()}
    outside: set[Edge] = set()
    for each in manifests:
        if each.get("kind") != "NetworkPolicy":
            continue
        for way, found in inside.items():
            for edge, is_inside in _of_policy(each["spec"], way):
                (found if is_inside else outside).add(edge)
    out, into = inside["egress"], inside["ingress"]
    return Edges(frozenset((out & into) | outside), frozenset(out ^ into))


def _of_policy(spec: Manifest, way: str) -> Iterator[tuple[Edge, bool]]:
    """The calls that one policy lets through one way, and whether both ends are ours."""
    nothing: list[Manifest] = [{}]
    peers = "to" if way == "egress" else "from"
    for rule in spec.get(way) or ():
        ports = [str(port.get("port", ALL)) for port in rule.get("ports") or nothing]
        for peer in rule.get(peers) or nothing:
            is_inside = set(peer) == {"podSelector"}
            for own in _names(spec["podSelector"]):
                for other in _names(peer["podSelector"]) if is_inside else [_outside(peer)]:
                    ends = (own, other) if way == "egress" else (other, own)
                    yield from ((Edge(*ends, port), is_inside) for port in ports)


def _names(selector: Manifest) -> list[str]:
    """Workloads that a selector means."""
    labels = selector.get("matchLabels") or {}
    for key in _NAMES:
        if key in labels:
            return [labels[key]]
    for expression in selector.get("matchExpressions") or ():
        if expression["key"] in _NAMES and expression["operator"] == "In":
            return list(expression["values"])
    return [ALL]


def _outside(peer: Manifest) -> str:
    """What people call a peer outside of the namespace; its addresses, or its namespace."""
    if "ipBlock" in peer:
        return str(peer["ipBlock"]["cidr"]).replace("0.0.0.0/0", ANYWHERE)
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
