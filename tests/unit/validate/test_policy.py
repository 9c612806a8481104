"""Each fault that must never reach a cluster, planted in manifests that are right."""

from copy import deepcopy
from types import SimpleNamespace

import pytest

from rlaif.validate.policy import findings


def test_right_manifests_break_no_rule(stream):
    assert findings(stream) == []


@pytest.mark.parametrize(
    "planted",
    [
        {"kind": "Secret", "metadata": {"name": "x"}, "stringData": {"S3_SECRET_KEY": "hunter2"}},
        {"kind": "Secret", "metadata": {"name": "x"}, "data": {"S3_SECRET_KEY": "aHVudGVyMg=="}},
        {"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"LLM_API_KEY": "sk-1"}},
        {"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"U": "nats://me:pw@nats:4222"}},
        {"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"f": "a: 1\npassword: hunter2"}},
        {"kind": "RayJob", "metadata": {"name": "x"},
         "spec": {"runtimeEnvYAML": 'env_vars:\n  S3_SECRET_KEY: "zelda-2024"'}},
        {"kind": "Route", "metadata": {"name": "x"},
         "spec": {"tls": {"key": "-----BEGIN RSA PRIVATE KEY-----\nMII"}}},
    ],
)  # fmt: skip
def test_a_literal_secret_is_found_wherever_it_is(stream, planted):
    assert len(findings([*stream, planted])) == 1


def test_a_secret_in_a_variable_is_found_and_a_reference_to_one_is_not(stream, container):
    container["env"] += [
        {"name": "S3_ACCESS_KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "NATS_CA_FILE", "value": "/etc/trust/ca.crt"},
    ]
    assert findings(stream) == []
    container["env"].append({"name": "RLAIF_API_TOKEN", "value": "hunter2"})
    assert findings(stream) == ["Deployment/judge: RLAIF_API_TOKEN is a secret written down"]


def test_a_secret_that_only_names_what_the_cluster_fills_in_is_none(stream):
    stream.append({"kind": "Secret", "metadata": {"name": "x"},
                   "type": "kubernetes.io/service-account-token"})  # fmt: skip
    assert findings(stream) == []


@pytest.mark.parametrize("field", ["apiGroups", "resources", "verbs"])
def test_a_wildcard_in_a_role_is_found(stream, field):
    rule = {"apiGroups": ["ray.io"], "resources": ["rayjobs"], "verbs": ["create"]}
    role = {"kind": "Role", "metadata": {"name": "x"}, "rules": [rule]}
    assert findings([*stream, role]) == []
    rule[field] = ["*"]
    assert findings([*stream, role]) == [f"Role/x: a wildcard in {field}"]


def test_a_binding_to_a_role_of_the_platform_that_may_everything_is_found(stream):
    binding = {"kind": "RoleBinding", "metadata": {"name": "x"}, "roleRef": {"name": "edit"}}
    assert findings([*stream, binding]) == ["RoleBinding/x: binds the role edit"]


def test_a_token_without_a_right_is_found(stream, pod):
    del pod["automountServiceAccountToken"]
    pod["serviceAccountName"] = "judge"
    assert len(findings(stream)) == 1
    subject = {"kind": "ServiceAccount", "name": "judge"}
    stream.append({"kind": "RoleBinding", "metadata": {"name": "x"}, "subjects": [subject]})
    assert findings(stream) == []


@pytest.mark.parametrize(
    "image",
    ["nats", "nats:latest", "quay.io:443/zelda/service", "nats:stable", "nats:2", "nats:main"],
)
def test_an_image_that_may_be_another_tomorrow_is_found(stream, container, image):
    container["image"] = image
    assert findings(stream) == [f"Deployment/judge: image {image} is not pinned"]


@pytest.mark.parametrize(
    "image",
    ["nats:2.15.1-alpine", "quay.io:443/zelda/service@sha256:" + "a" * 64, "ghcr.io/x/y:v0.10.2"],
)
def test_a_release_or_a_digest_is_pinned(stream, container, image):
    container["image"] = image
    assert findings(stream) == []


@pytest.mark.parametrize("probe", ["livenessProbe", "readinessProbe"])
def test_a_missing_probe_is_found(stream, container, probe):
    del container[probe]
    assert findings(stream) == [f"Deployment/judge, container judge: no {probe}"]


@pytest.mark.parametrize(
    ("group", "resource"), [("requests", "cpu"), ("requests", "memory"), ("limits", "memory")]
)
def test_a_missing_request_or_limit_is_found(stream, container, group, resource):
    del container["resources"][group][resource]
    found = f"Deployment/judge, container judge: no {resource} in {group}"
    assert findings(stream) == [found]


@pytest.mark.parametrize("field", ["runAsUser", "runAsGroup", "fsGroup"])
def test_a_fixed_user_is_found_on_the_pod_and_on_the_container(stream, pod, container, field):
    pod["securityContext"][field] = 1000
    container["securityContext"][field] = 0
    assert len(findings(stream)) == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("readOnlyRootFilesystem", None),
        ("readOnlyRootFilesystem", False),
        ("allowPrivilegeEscalation", None),
        ("privileged", True),
        ("runAsNonRoot", False),
        ("capabilities", {}),
        ("capabilities", {"drop": ["ALL"], "add": ["NET_ADMIN"]}),
    ],
)
def test_a_container_that_may_more_than_it_needs_is_found(stream, container, field, value):
    container["securityContext"][field] = value
    assert len(findings(stream)) == 1


def test_what_reaches_for_the_node_is_found(stream, pod):
    pod["hostNetwork"] = True
    pod["volumes"] = [{"name": "node", "hostPath": {"path": "/"}}]
    assert len(findings(stream)) == 2


@pytest.mark.parametrize("kind", ["RayCluster", "RayJob", "CronJob"])
def test_pods_inside_other_kinds_are_held_to_the_same(stream, deployment, container, kind):
    container["image"] = "x:latest"
    template = deployment["spec"]["template"]
    groups = {"headGroupSpec": {"template": template}, "workerGroupSpecs": [{"template": template}]}
    specs = {
        "RayCluster": groups,
        "RayJob": {"rayClusterSpec": groups},
        "CronJob": {"jobTemplate": {"spec": {"template": template}}},
    }
    stream[0] = deployment | {"kind": kind, "spec": specs[kind]}
    assert f"{kind}/judge: image x:latest is not pinned" in findings(stream)


def test_a_namespace_that_denies_nothing_is_found(stream):
    assert len(findings(stream[:1])) == 1
    stream[1]["spec"]["policyTypes"] = ["Ingress"]
    assert len(findings(stream)) == 1


# --- Ray on OpenShift AI, drains ------------------------------------------------------------------

RAY = {"app.kubernetes.io/name": "ray"}


@pytest.fixture(params=["RayCluster", "RayJob"])
def ray(request, stream, pod, container):
    """A Ray cluster that breaks no rule, its head's pod and its group of workers; in a stream."""

    def template(**changed):
        return {"metadata": {"labels": RAY}, "spec": {**deepcopy(pod), **changed}}

    container["resources"] = {
        "requests": {"cpu": "4", "memory": "8Gi"},
        "limits": {"memory": "8Gi"},
    }
    head = template(automountServiceAccountToken=True)
    head["spec"]["containers"][0]["env"] = [{"name": "RAY_WORKERS", "value": "8"}]
    workers = {"replicas": 2, "rayStartParams": {}, "template": template()}
    cluster = {
        "headGroupSpec": {"rayStartParams": {}, "template": head},
        "workerGroupSpecs": [workers],
    }
    spec = cluster if request.param == "RayCluster" else {"rayClusterSpec": cluster}
    owner = {
        "kind": request.param,
        "metadata": {"name": "ray", "namespace": "zelda-rlaif"},
        "spec": spec,
    }
    policy = {
        "kind": "NetworkPolicy",
        "metadata": {"name": "api-server", "namespace": "zelda-rlaif"},
        "spec": {
            "podSelector": {"matchLabels": RAY | {"ray.io/node-type": "head"}},
            "policyTypes": ["Egress"],
            "egress": [{"ports": [{"port": 443}, {"port": 6443}]}],
        },
    }
    stream[0] = owner
    stream.append(policy)
    return SimpleNamespace(
        head=head["spec"], group=cluster["headGroupSpec"], workers=workers, policy=policy
    )


@pytest.mark.parametrize("mounted", [False, None])
def test_a_ray_head_without_a_token_is_found(stream, ray, mounted):
    ray.head["automountServiceAccountToken"] = mounted
    (found,) = findings(stream)
    assert "its head mounts no service account token" in found


@pytest.mark.parametrize("ports", [[], [{"port": 443}], [{"port": 6443}], [{"port": 8265}]])
def test_a_ray_head_without_egress_to_the_api_server_is_found(stream, ray, ports):
    ray.policy["spec"]["egress"] = [{"ports": ports}] if ports else []
    (found,) = findings(stream)
    assert "no egress of its head to the API server" in found


def test_egress_of_another_pod_or_to_other_pods_alone_is_none_to_the_api_server(stream, ray):
    ray.policy["spec"]["podSelector"]["matchLabels"] = {"app.kubernetes.io/name": "judge"}
    assert len(findings(stream)) == 1
    ray.policy["spec"]["podSelector"] = {
        "matchExpressions": [{"key": "ray.io/node-type", "operator": "In", "values": ["head"]}]
    }
    assert findings(stream) == []
    ray.policy["spec"]["egress"][0]["to"] = [{"podSelector": {}}]
    assert len(findings(stream)) == 1
    ray.policy["spec"]["egress"][0]["to"] = [{"ipBlock": {"cidr": "10.0.0.0/8"}}]
    assert findings(stream) == []


def test_a_worker_with_a_token_is_found(stream, ray):
    ray.workers["template"]["spec"]["automountServiceAccountToken"] = True
    (found,) = findings(stream)
    assert "a token that gives them no right" in found


@pytest.mark.parametrize(
    ("size", "store", "found"),
    [("2Gi", None, 1), ("3Gi", None, 0), ("2Gi", "1500000000", 0), ("1Gi", "1500000000", 1)],
)
def test_an_object_store_larger_than_shm_is_found(stream, ray, size, store, found):
    ray.head["volumes"] = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}}]
    ray.head["containers"][0]["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}]
    if store:
        ray.group["rayStartParams"]["object-store-memory"] = store
    assert len(findings(stream)) == found


def test_runners_that_are_not_the_cpus_of_the_workers_are_found(stream, ray):
    ray.workers["replicas"] = 5
    (found,) = findings(stream)
    assert "RAY_WORKERS is 8, its workers have 20 CPUs" in found


@pytest.mark.parametrize("kind", ["Job", "RayCluster"])
def test_a_budget_that_selects_pods_without_a_scale_is_found(stream, deployment, kind):
    selector = {"matchLabels": dict(deployment["spec"]["selector"]["matchLabels"])}
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "judge"},
        "spec": {"maxUnavailable": 1, "selector": selector},
    }
    job = deepcopy(deployment) | {"kind": "Job"}
    if kind == "RayCluster":
        template = deepcopy(deployment["spec"]["template"])
        template["spec"]["automountServiceAccountToken"] = True
        job |= {"kind": kind, "spec": {"headGroupSpec": {"template": template}}}
        stream = [each for each in stream if each["kind"] != "NetworkPolicy"]
    assert not any("eviction" in line for line in findings([*stream, budget]))
    assert any("selects pods of" in line for line in findings([*stream, job, budget]))
    selector["matchLabels"]["app.kubernetes.io/component"] = "service"
    assert not any("eviction" in line for line in findings([*stream, job, budget]))
