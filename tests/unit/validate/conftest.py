"""A Deployment that breaks no rule, to be spoilt by one change at a time."""

from copy import deepcopy
from typing import Any

import pytest

_GOOD: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "judge", "namespace": "zelda-rlaif"},
    "spec": {
        "selector": {"matchLabels": {"app.kubernetes.io/name": "judge"}},
        "template": {
            "metadata": {"labels": {"app.kubernetes.io/name": "judge"}},
            "spec": {
                "automountServiceAccountToken": False,
                "securityContext": {
                    "runAsNonRoot": True,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [
                    {
                        "name": "judge",
                        "image": "quay.io/zelda/service:0.1.0",
                        "env": [{"name": "LOG_LEVEL", "value": "info"}],
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "readOnlyRootFilesystem": True,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "resources": {
                            "requests": {"cpu": "100m", "memory": "128Mi"},
                            "limits": {"memory": "256Mi"},
                        },
                        "livenessProbe": {"httpGet": {"path": "/livez", "port": 8083}},
                        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8083}},
                    }
                ],
            },
        },
    },
}

_DENY: dict[str, Any] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "default-deny", "namespace": "zelda-rlaif"},
    "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
}


@pytest.fixture
def deployment() -> dict[str, Any]:
    return deepcopy(_GOOD)


@pytest.fixture
def pod(deployment: dict[str, Any]) -> dict[str, Any]:
    """The pod's spec of `deployment`."""
    found: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return found


@pytest.fixture
def container(pod: dict[str, Any]) -> dict[str, Any]:
    """The container of `deployment`."""
    found: dict[str, Any] = pod["containers"][0]
    return found


@pytest.fixture
def stream(deployment: dict[str, Any]) -> list[dict[str, Any]]:
    """A stream that breaks no rule: `deployment`, and a policy that denies by default."""
    return [deployment, deepcopy(_DENY)]
