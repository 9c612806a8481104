"""A stand-in for the Kubernetes API server: it keeps what it is sent, and Ray is ready at once."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from fastapi import FastAPI, HTTPException, Request

from rlaif.testing.servers.http_server import serve

GROUPS = {
    "authentication.k8s.io": "v1",
    "ray.io": "v1",
    "kueue.x-k8s.io": "v1beta1",
    "route.openshift.io": "v1",
    "gateway.networking.k8s.io": "v1",
}
RESOURCES = {"rayclusters": "RayCluster", "rayjobs": "RayJob"}
STATES = ("Initializing", "Running", "Complete")
"""What a job says, one look after the other."""

Path = tuple[str, str, str]
"""Namespace, plural, name."""


@dataclass
class ApiServer:
    """What is in the cluster, what was ever sent to it, and what it does not know."""

    url: str = ""
    objects: dict[Path, dict[str, Any]] = field(default_factory=dict)
    sent: list[dict[str, Any]] = field(default_factory=list)
    deleted: list[Path] = field(default_factory=list)
    looks: dict[Path, int] = field(default_factory=dict)

    def keep(self, namespace: str, plural: str, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """Take an object in, as the operator would leave it."""
        self.sent.append(body)
        status: dict[str, Any] = {"state": "ready"} if plural == "rayclusters" else {}
        self.objects[namespace, plural, name] = {**body, "status": status}
        return self.objects[namespace, plural, name]

    def found(self, namespace: str, plural: str) -> list[dict[str, Any]]:
        """The objects of a kind."""
        return [each for path, each in self.objects.items() if path[:2] == (namespace, plural)]

    def looked_at(self, path: Path) -> dict[str, Any]:
        """An object; a job is further on with each look."""
        if path not in self.objects:
            raise HTTPException(404, "not found")
        if path[1] == "rayjobs":
            look = self.looks.get(path, 0)
            self.looks[path] = look + 1
            state = STATES[min(look, len(STATES) - 1)]
            self.objects[path]["status"] = {"jobDeploymentStatus": state, "jobId": "job-1"}
        return self.objects[path]


def _group(name: str) -> dict[str, Any]:
    version = {"groupVersion": f"{name}/{GROUPS[name]}", "version": GROUPS[name]}
    return {"kind": "APIGroup", "name": name, "versions": [version], "preferredVersion": version}


def _list(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}


def _resource(plural: str) -> dict[str, Any]:
    return {
        "name": plural,
        "singularName": RESOURCES[plural].lower(),
        "namespaced": True,
        "kind": RESOURCES[plural],
        "verbs": ["create", "delete", "get", "list", "patch", "update"],
    }


def add_discovery(app: FastAPI) -> None:
    """Which kinds there are, as the dynamic client of Kubernetes asks."""

    @app.get("/version")
    def version() -> dict[str, str]:
        return {"major": "1", "minor": "33", "gitVersion": "v1.33.0"}

    @app.get("/api")
    def core() -> dict[str, Any]:
        return {"kind": "APIVersions", "versions": ["v1"]}

    @app.get("/api/v1")
    def core_resources() -> dict[str, Any]:
        return {"kind": "APIResourceList", "groupVersion": "v1", "resources": []}

    @app.get("/apis")
    @app.get("/apis/")
    def groups() -> dict[str, Any]:
        return {"kind": "APIGroupList", "groups": [_group(name) for name in GROUPS]}

    @app.get("/apis/{group}/")
    def group(group: str) -> dict[str, Any]:
        return _group(group)

    @app.get("/apis/{group}/{version}")
    def resources(group: str, version: str) -> dict[str, Any]:
        ours = [_resource(plural) for plural in RESOURCES] if group == "ray.io" else []
        return {
            "kind": "APIResourceList", "groupVersion": f"{group}/{version}", "resources": ours,
        }  # fmt: skip


def add_objects(app: FastAPI, server: ApiServer) -> None:
    """What is in a namespace, to read and to change."""

    @app.get("/api/v1/namespaces/{namespace}/{plural}")
    @app.get("/apis/{group}/{version}/namespaces/{namespace}/{plural}")
    def listed(namespace: str, plural: str) -> dict[str, Any]:
        return _list(server.found(namespace, plural))

    @app.get("/apis/{group}/{version}/{plural}")
    def listed_everywhere(plural: str) -> dict[str, Any]:
        return _list([])

    one = "/apis/ray.io/v1/namespaces/{namespace}/{plural}"

    @app.post(one, status_code=201)
    async def created(namespace: str, plural: str, request: Request) -> dict[str, Any]:
        body = yaml.safe_load(await request.body())
        return server.keep(namespace, plural, body["metadata"]["name"], body)

    @app.patch(one + "/{name}")  # server-side apply
    async def applied(namespace: str, plural: str, name: str, request: Request) -> dict[str, Any]:
        return server.keep(namespace, plural, name, yaml.safe_load(await request.body()))

    @app.get(one + "/{name}")
    @app.get(one + "/{name}/status")
    def read(namespace: str, plural: str, name: str) -> dict[str, Any]:
        return server.looked_at((namespace, plural, name))

    @app.delete(one + "/{name}")
    def removed(namespace: str, plural: str, name: str) -> dict[str, Any]:
        path = (namespace, plural, name)
        server.looked_at(path)
        del server.objects[path]
        server.deleted.append(path)
        return {"kind": "Status", "status": "Success"}


@pytest.fixture
async def api_server() -> AsyncIterator[ApiServer]:
    server = ApiServer()
    app = FastAPI()
    add_discovery(app)
    add_objects(app, server)
    async with serve(app) as url:
        server.url = url
        yield server
