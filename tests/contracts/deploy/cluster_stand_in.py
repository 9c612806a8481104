"""Stands in for `oc`, `aws`, `curl`, `git`, `make` and a container engine while a page is tried.

It is started under those names. Objects are what was applied to it, rendered by the real kubectl,
with what operators and controllers would make of them. Whatever a command names and is not there is
an error, as on a cluster.
"""

import base64
import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from rlaif.validate.manifests import pods
from rlaif.validate.targets import targets

Object = dict[str, Any]
STATE = Path(os.environ["STAND_IN"])
KUBERNETES = [
    "AppProject", "Application", "ApplicationSet", "ArgoCD", "ConfigMap", "CronJob", "Deployment",
    "Event", "Job", "Namespace", "NetworkPolicy", "PersistentVolumeClaim", "Pod",
    "PodDisruptionBudget", "Route", "Secret", "Service", "ServiceAccount", "StatefulSet",
]  # fmt: skip
PLATFORM = {
    "KubeRay": ["RayCluster", "RayJob"],
    "OpenShift AI": [
        "RayCluster", "RayJob", "LLMInferenceService", "InferencePool", "HTTPRoute", "Gateway",
    ],
}  # fmt: skip
READS = ("get", "describe", "wait", "rollout", "port-forward", "exec", "logs", "project")
SHORT = {"po": "pod", "svc": "service", "pvc": "persistentvolumeclaim"}


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


class ClusterError(Exception):
    """What a cluster would answer; its first line."""


class Cluster:
    """The objects of a cluster, kept in a file between commands."""

    def __init__(self) -> None:
        self._file = STATE / "objects.json"
        self.objects: list[Object] = (
            json.loads(self._file.read_text()) if self._file.exists() else _of_the_platform()
        )
        current = STATE / "project"
        self.namespace = current.read_text() if current.exists() else "default"

    def save(self) -> None:
        self._file.write_text(json.dumps(self.objects))

    def kind(self, name: str) -> str:
        """The kind that a word of the command line means."""
        word = SHORT.get(name.lower(), name.lower())
        installed = os.environ.get("STAND_IN_PLATFORM", "")
        kinds = {*KUBERNETES, *(each["kind"] for each in self.objects)}
        kinds |= {kind for part, made in PLATFORM.items() if part in installed for kind in made}
        for kind in kinds:
            lower = kind.lower()
            if word in (lower, f"{lower}s", re.sub("y$", "ies", lower), f"{lower}es"):
                return kind
        raise ClusterError(f"the server doesn't have a resource type {name!r}")

    def find(
        self, kind: str, *, name: str = "", namespace: str = "", labels: str = ""
    ) -> list[Object]:
        """Objects of a kind; an error where one that is named is not there."""
        found = [
            each
            for each in [*self.objects, *self._pods()]
            if each["kind"] == kind
            and each["metadata"].get("namespace") in (None, namespace or self.namespace)
            and name in ("", each["metadata"]["name"])
            and _labelled(each, labels)
        ]
        if name and not found:
            raise ClusterError(f"{kind} {name!r} not found in {namespace or self.namespace}")
        return found

    def _pods(self) -> Iterator[Object]:
        for owner in self.objects:
            count = (owner.get("spec") or {}).get("replicas", 1)
            if owner["kind"] not in ("Deployment", "StatefulSet", "RayCluster", "RayJob", "Job"):
                continue
            for number, pod in enumerate(pods([owner])):
                for index in range(count if owner["kind"] in ("Deployment", "StatefulSet") else 1):
                    name = f"{owner['metadata']['name']}-{index + number}"
                    metadata = {**owner["metadata"], "name": name, "labels": pod.labels}
                    yield {"kind": "Pod", "metadata": metadata, "spec": pod.spec}

    def apply(self, sent: Object, *, create: bool = False) -> None:
        """Take an object in, with what its controllers make of it."""
        if any(sent["kind"] in made for made in PLATFORM.values()):
            self.kind(sent["kind"])  # an error where its operator is not installed
        sent = copy.deepcopy(sent)
        metadata = sent["metadata"]
        if "namespace" not in metadata and sent["kind"] not in ("Namespace", "GatewayClass"):
            metadata["namespace"] = self.namespace
        if metadata.get("namespace"):
            self.find("Namespace", name=metadata["namespace"], namespace=metadata["namespace"])
        same = [each for each in self.objects if _key(each) == _key(sent)]
        if same and create:
            raise ClusterError(f"{sent['kind']} {metadata['name']!r} already exists")
        for each in same:
            self.objects.remove(each)
        self.objects.append(sent)
        for made in _made_of(sent):
            self.objects = [each for each in self.objects if _key(each) != _key(made)] + [made]

    def start(self, owner: Object) -> None:
        """Raise what keeps the pods of a workload from starting."""
        for pod in pods([owner]):
            for container in pod.containers():
                for source in container.get("envFrom") or ():
                    for reference, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                        if reference in source:
                            name = source[reference]["name"]
                            self.find(kind, name=name, namespace=owner["metadata"]["namespace"])
            if account := pod.spec.get("serviceAccountName"):
                self.find("ServiceAccount", name=account, namespace=owner["metadata"]["namespace"])

    def bootstrapped(self, job: Object) -> None:
        """Raise what keeps the Job that makes streams and buckets from its end."""
        self.start(job)
        namespace = job["metadata"]["namespace"]
        (nats,) = self.find("StatefulSet", name="nats", namespace=namespace)
        if not nats["spec"]["replicas"]:
            raise ClusterError("timed out waiting for the condition on jobs/bootstrap: no NATS")
        self.find("Service", name="nats", namespace=namespace)
        self.find("NetworkPolicy", name="nats-egress", namespace=namespace)
        config = job["spec"]["template"]["spec"]["containers"][0]["envFrom"][0]["configMapRef"]
        (settings,) = self.find("ConfigMap", name=config["name"], namespace=namespace)
        if settings["data"]["S3_ENDPOINT_URL"] == "http://s3:9000":
            self.find("Service", name="s3", namespace=namespace)
            self.find("StatefulSet", name="s3", namespace=namespace)


def _of_the_platform() -> list[Object]:
    def one(kind: str, name: str, namespace: str | None = None, **more: Any) -> Object:
        place = {"namespace": namespace} if namespace else {}
        return {
            "kind": kind,
            "metadata": {"name": name, **place, **more.pop("metadata", {})},
            **more,
        }

    shared = (
        "openshift-gitops",
        "openshift-ingress",
        "openshift-storage",
        "redhat-ods-applications",
    )
    kuberay = {"labels": {"app.kubernetes.io/name": "kuberay"}}
    return [
        *(one("Namespace", name) for name in shared),
        one("Gateway", "data-science-gateway", "openshift-ingress",
            metadata={"annotations": {"opendatahub.io/managed": "true"}}),
        one("Route", "s3", "openshift-storage",
            spec={"host": "s3-openshift-storage.apps.example.org"}),
        one("Pod", "kuberay-operator", "redhat-ods-applications", metadata=kuberay),
    ]  # fmt: skip


def _key(each: Object) -> tuple[str, str, str]:
    return each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]


def _labelled(each: Object, selector: str) -> bool:
    labels = each["metadata"].get("labels") or {}
    for part in filter(None, selector.split(",")):
        name, unequal, value = part.partition("!=")
        if not unequal:
            name, _, value = part.replace("==", "=").partition("=")
        if (labels.get(name) == value) == bool(unequal):
            return False
    return True


def _made_of(sent: Object) -> Iterator[Object]:
    """What a controller makes of an object."""
    spec, metadata = sent.get("spec") or {}, sent["metadata"]
    place = {"namespace": metadata.get("namespace")}
    owner = [{"kind": sent["kind"], "name": metadata["name"]}]

    def secret(name: str, keys: Any) -> Object:
        data = {key: base64.b64encode(f"{key}-of-{name}".encode()).decode() for key in keys}
        return {
            "kind": "Secret",
            "metadata": {"name": name, "ownerReferences": owner, **place},
            "data": data,
        }

    match sent["kind"]:
        case "ExternalSecret":
            template = (spec["target"].get("template") or {}).get("data")
            yield secret(
                spec["target"]["name"], template or [it["secretKey"] for it in spec["data"]]
            )
        case "ObjectBucketClaim":
            yield secret(metadata["name"], ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
        case "StatefulSet":
            for claim in spec.get("volumeClaimTemplates") or ():
                for number in range(spec["replicas"]):
                    name = f"{claim['metadata']['name']}-{metadata['name']}-{number}"
                    yield {"kind": "PersistentVolumeClaim", "metadata": {"name": name, **place}}
        case "RayJob":
            yield {"kind": "Job", "metadata": {"name": metadata["name"], **place},
                   "spec": {"template": spec["submitterPodTemplate"]}}  # fmt: skip
        case "Route":
            sent["spec"].setdefault(
                "host", f"{metadata['name']}-{metadata['namespace']}.apps.example.org"
            )
        case "ApplicationSet":
            for element in spec["generators"][0]["list"]["elements"]:
                name = spec["template"]["metadata"]["name"].replace(
                    "{{.environment}}", element["environment"]
                )
                yield {
                    "kind": "Application",
                    "metadata": {"name": name, **place},
                    "spec": spec["template"]["spec"],
                }


# --- oc -------------------------------------------------------------------------------------------


class Arguments:
    """Options and words of a command line of `oc`."""

    WITH_VALUE = ("--field-selector", "-n", "-k", "-f", "-l", "-o", "-c", "-p")

    def __init__(self, given: list[str]) -> None:
        self.options: dict[str, str] = {}
        self.words: list[str] = []
        self.behind: list[str] = []
        rest = iter(given)
        for each in rest:
            if each == "--":
                self.behind = list(rest)
            elif each in self.WITH_VALUE:
                self.options[each] = next(rest)
            elif each.startswith("-"):
                name, _, value = each.partition("=")
                self.options[name] = value
            else:
                self.words.append(each)

    def get(self, name: str) -> str:
        return self.options.get(name, "")


class Oc:
    """The commands of `oc` that the pages use."""

    def __init__(self, cluster: Cluster, given: list[str]) -> None:
        self.cluster = cluster
        self.verb, *rest = given
        self.at = Arguments([each for each in rest if (self.verb, each) != ("logs", "-f")])

    def run(self) -> None:
        getattr(self, self.verb.replace("-", "_"))()

    def named(self, words: list[str] | None = None) -> list[Object]:
        """The objects that are meant: TYPE/NAME, TYPE NAME …, or TYPE with a selector."""
        words = list(self.at.words if words is None else words)
        place, labels = self.at.get("-n"), self.at.get("-l")
        if not words:
            raise ClusterError("resource(s) were provided, but no name was specified")
        if "/" in words[0]:
            pairs = [word.split("/") for word in words]
        elif len(words) > 1:
            pairs = [[words[0], word] for word in words[1:]]
        else:
            pairs = [[kind, ""] for kind in words[0].split(",")]
        found: list[Object] = []
        for word, name in pairs:
            kind = self.cluster.kind(word)
            try:
                if "-A" in self.at.options:
                    found += [
                        e
                        for e in self.cluster.objects
                        if e["kind"] == kind and _labelled(e, labels)
                    ]
                else:
                    found += self.cluster.find(kind, name=name, namespace=place, labels=labels)
            except ClusterError:
                if "--ignore-not-found" not in self.at.options:
                    raise
        return found

    def rendered(self) -> list[Object]:
        folder = self.at.get("-k")
        text = _kustomized(folder) if folder else sys.stdin.read()
        stream = [
            each
            for each in yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            if each
        ]
        chosen = [each for each in stream if _labelled(each, self.at.get("-l"))]
        if not chosen:
            raise ClusterError("no objects passed to apply")
        return chosen

    def new_project(self) -> None:
        (name,) = self.at.words
        self.cluster.apply({"kind": "Namespace", "metadata": {"name": name}}, create=True)
        (STATE / "project").write_text(name)

    def project(self) -> None:
        (name,) = self.at.words
        self.cluster.find("Namespace", name=name, namespace=name)
        (STATE / "project").write_text(name)

    def apply(self) -> None:
        # Namespaces first, as `oc` sorts them.
        for each in sorted(self.rendered(), key=lambda each: each["kind"] != "Namespace"):
            self.cluster.apply(each)
            _say(f"{each['kind']}/{each['metadata']['name']} applied")

    def create(self) -> None:
        if self.at.words[:1] == ["secret"]:
            assert self.at.get("--docker-username")
            assert self.at.get("--docker-password")
            name = self.at.words[2]
            self.cluster.apply(
                {"kind": "Secret", "metadata": {"name": name}, "data": {}}, create=True
            )
            return
        for each in self.rendered():
            self.cluster.apply(each, create=True)

    def get(self) -> None:
        found, output = self.named(), self.at.get("-o")
        if output == "json":
            one = len(self.at.words) > 1 or "/" in self.at.words[0]
            _say(json.dumps(found[0] if one else {"items": found}))
        elif output.startswith("jsonpath="):
            sys.stdout.write("".join(_at_path(each, output.partition("=")[2]) for each in found))
        else:
            for each in found:
                prefix = f"{each['kind'].lower()}/" if output == "name" else ""
                _say(prefix + each["metadata"]["name"])

    def describe(self) -> None:
        assert self.named()

    def delete(self) -> None:
        for each in self.named():
            self.cluster.objects = [it for it in self.cluster.objects if _key(it) != _key(each)]

    def annotate(self) -> None:
        kind, name, *notes = self.at.words
        (each,) = self.named([kind, name])
        for note in notes:
            if note.endswith("-"):
                del each["metadata"]["annotations"][note[:-1]]

    def patch(self) -> None:
        for each in self.named():
            _merge(each, json.loads(self.at.get("-p")))

    def wait(self) -> None:
        waiting, condition = self.named(), self.at.get("--for")
        if condition == "delete":
            if waiting:
                raise ClusterError(f"timed out waiting: {len(waiting)} pods run")
            return
        for each in waiting:
            if each["kind"] == "Job":
                self.cluster.bootstrapped(each)

    def rollout(self) -> None:
        for each in self.named(self.at.words[1:]):
            if each["spec"].get("replicas", 1) < 1:
                raise ClusterError(f"{each['metadata']['name']} has no replicas")
            self.cluster.start(each)

    def scale(self) -> None:
        found = self.named()
        if not found:
            raise ClusterError("no objects passed to scale")
        for each in found:
            each["spec"]["replicas"] = int(self.at.get("--replicas"))

    def _containers(self, target: str) -> list[Object]:
        if "/" not in target:
            target = f"pod/{target}"
        (each,) = self.named([target])
        if each["kind"] == "Pod":
            return list(each["spec"]["containers"])
        return [container for pod in pods([each]) for container in pod.containers()]

    def port_forward(self) -> None:
        target, *ports = self.at.words
        if target.startswith("service/"):
            (service,) = self.named([target])
            known = {str(each["port"]) for each in service["spec"]["ports"]}
        else:
            known = {
                str(port["containerPort"])
                for container in self._containers(target)
                for port in container.get("ports") or ()
            }
        if missing := {port.partition(":")[2] or port for port in ports} - known:
            raise ClusterError(f"{target} has no port {', '.join(missing)}")

    def exec(self) -> None:
        containers = self._containers(self.at.words[0])
        if wanted := self.at.get("-c"):
            assert wanted in {each["name"] for each in containers}
        text = " ".join(self.at.behind)
        if ":8083/api/v1/judges" in text:
            _say(json.dumps({"judges": [{"name": "state", "standing": "trusted"}]}))
        elif ":8222/jsz" in text:
            _say(json.dumps({"account_details": [{"stream_detail": [{"consumer_detail": []}]}]}))
        elif self.at.behind[0] == "tar":
            sys.stdout.write("tar")
        else:
            raise ClusterError(f"exec: {text}: not found")

    def logs(self) -> None:
        assert self._containers(self.at.words[0])
        _say(json.dumps({"level": "error"}))

    def run_pod(self) -> None:
        spec = json.loads(self.at.get("--overrides"))["spec"]
        for volume in spec["volumes"]:
            claim = volume["persistentVolumeClaim"]["claimName"]
            self.cluster.find("PersistentVolumeClaim", name=claim)
            owner, _, _ = claim.removeprefix("data-").rpartition("-")
            if self.cluster.find("StatefulSet", name=owner)[0]["spec"]["replicas"]:
                raise ClusterError(f"{claim} is mounted by a pod that runs")
        name = self.at.words[0]
        self.cluster.apply({"kind": "Pod", "metadata": {"name": name}, "spec": spec}, create=True)


def _kustomized(folder: str) -> str:
    """What the real kubectl makes of a folder; the same folder is rendered once."""
    kept = STATE / f"{folder.replace('/', '-')}.yaml"
    if not kept.exists():
        done = subprocess.run(
            [os.environ["REAL_KUBECTL"], "kustomize", folder], capture_output=True, text=True
        )
        if done.returncode:
            raise ClusterError(done.stderr)
        kept.write_text(done.stdout)
    return kept.read_text()


def _merge(target: Object, patch: Object) -> None:
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            _merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


def _at_path(each: Any, path: str) -> str:
    for key, number in re.findall(r"\.([\w-]+)|\[(\d+)\]", path):
        each = each[int(number)] if number else (each or {}).get(key)
    return "" if each is None else str(each)


# --- the others -----------------------------------------------------------------------------------


def aws(given: list[str]) -> None:
    """Copies nothing, and refuses a bucket that no setting names, and empty keys."""
    assert given[0] == "s3"
    cluster = Cluster()
    configs = [
        each for each in cluster.find("ConfigMap") if "MODELS_STORE" in (each.get("data") or {})
    ]
    stores = {each["data"][name] for each in configs for name in ("MODELS_STORE", "EPISODES_STORE")}
    for word in given[2:]:
        if word.startswith("s3://") and "/".join(word.split("/")[:3]) not in stores:
            raise ClusterError(f"NoSuchBucket: {word}")
        if word.startswith("backup/") and given[1] == "cp" and not Path(word).is_dir():
            raise ClusterError(f"The user-provided path {word} does not exist.")
    if given[1] == "sync":
        Path(given[3]).mkdir(parents=True, exist_ok=True)
    secret = cluster.find("Secret", name="rlaif-s3")[0]["data"]
    keys = {base64.b64decode(each).decode() for each in secret.values()}
    if {os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]} != keys:
        raise ClusterError("InvalidAccessKeyId")
    with (STATE / "endpoints").open("a") as file:
        file.write(os.environ.get("AWS_ENDPOINT_URL", "") + "\n")


def curl(given: list[str]) -> None:
    """Answers at a port of some pod, and at the page's host."""
    cluster = Cluster()
    for each in given:
        if each.startswith("Authorization:") and len(each.split()) != 3:
            raise ClusterError(f"401: {each}")
    url = re.sub("^https?://", "", given[-1])
    host, _, port = url.partition("/")[0].partition(":")
    ports = {
        str(port["containerPort"])
        for pod in cluster.find("Pod")
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
    }
    hosts = {each["spec"]["host"] for each in cluster.find("Route")}
    if not (port in ports if port else host in hosts):
        raise ClusterError(f"curl: (7) Failed to connect to {url}")
    _say(json.dumps({"loop": {}, "services": {}, "issues": []}))


def podman(given: list[str]) -> None:
    """Builds, tags and pushes nothing; a push leaves a digest."""
    with (STATE / "engine").open("a") as file:
        file.write(" ".join(given) + "\n")
    if "--digestfile" in given:
        Path(given[given.index("--digestfile") + 1]).write_text("sha256:" + "ab" * 32 + "\n")


def make(given: list[str]) -> int:
    """The real make; to validate, which would set up an environment, the first thing asked for."""
    if given[:1] == ["validate"]:
        (options,) = [each.partition("=")[2] for each in given if each.startswith("VALIDATE_ARGS=")]
        names = [each.name for each in targets(Path("deploy"))]
        asked = [each for each in options.split() if not each.startswith("--")]
        if unknown := [each for each in asked if not any(it.startswith(each) for it in names)]:
            raise ClusterError(f"make validate checks no {', '.join(unknown)}")
        return subprocess.call([sys.executable, "-m", "rlaif.validate", "--fill-in", asked[0]])
    return subprocess.call([os.environ["REAL_MAKE"], *given])


def main(program: str, given: list[str]) -> int:
    """Run as one of the programs."""
    try:
        if program == "oc":
            cluster = Cluster()
            if given[0] == "run":
                given = ["run-pod", *given[1:]]
            Oc(cluster, given).run()
            if given[0] not in READS:  # some run in the background
                cluster.save()
        elif program == "make":
            return make(given)
        elif program == "git":
            assert given[0] in ("clone", "pull")
        else:
            {"aws": aws, "curl": curl, "podman": podman}[program](given)
    except (ClusterError, AssertionError) as error:
        sys.stderr.write(f"{program} {' '.join(given)}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
