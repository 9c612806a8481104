"""Calls that policies let through, by the names of workloads."""

from rlaif.validate.edges import Edge, edges


def policy(own, way, peers, ports):
    peer_key = "to" if way == "egress" else "from"
    return {
        "kind": "NetworkPolicy",
        "spec": {
            "podSelector": selector(own),
            way: [{peer_key: peers, "ports": [{"port": port} for port in ports]}],
        },
    }


def selector(*names):
    key = "app.kubernetes.io/name"
    if len(names) == 1:
        return {"matchLabels": {key: names[0]}}
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(names)}]}


def test_a_call_inside_needs_both_sides():
    out = policy("judge", "egress", [{"podSelector": selector("nats")}], [4222])
    into = policy("nats", "ingress", [{"podSelector": selector("judge", "hud")}], [4222])
    found = edges([out, into])
    assert found.open == {Edge("judge", "nats", "4222")}
    assert found.half == {Edge("hud", "nats", "4222")}


def test_another_port_is_another_call():
    out = policy("judge", "egress", [{"podSelector": selector("nats")}], [4222])
    into = policy("nats", "ingress", [{"podSelector": selector("judge")}], [8222])
    assert edges([out, into]).open == set()


def test_what_is_outside_has_the_name_that_people_use():
    router = {
        "namespaceSelector": {"matchLabels": {"policy-group.network.openshift.io/ingress": ""}}
    }
    assert edges([policy("hud", "ingress", [router], [8086])]).open == {
        Edge("router", "hud", "8086")
    }
    keda = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "keda"}}}
    assert edges([policy("nats", "ingress", [keda], [8222])]).open == {Edge("keda", "nats", "8222")}


def test_a_rule_without_a_peer_is_open_to_anywhere():
    rule = policy("judge", "egress", [], [443])
    assert edges([rule]).open == {Edge("judge", "anywhere", "443")}
    block = policy("judge", "egress", [{"ipBlock": {"cidr": "0.0.0.0/0"}}], [443])
    assert edges([block]).open == {Edge("judge", "anywhere", "443")}


def test_a_rule_without_a_port_opens_all():
    rule = policy("judge", "egress", [], [])
    assert edges([rule]).open == {Edge("judge", "anywhere", "all")}
