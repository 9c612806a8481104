"""Each fault that must never reach a cluster, planted in manifests that are right."""

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


def test_a_password_that_is_a_variable_of_the_environment_is_none(stream):
    conf = "users: [{ user: $USER, password: $NATS_PASSWORD }]\npassword: $OTHER"
    stream.append({"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"nats.conf": conf}})
    assert findings(stream) == []


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


def test_a_job_needs_no_probe(stream, deployment, container):
    del container["livenessProbe"], container["readinessProbe"]
    deployment["kind"] = "Job"
    assert findings(stream) == []


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


def test_init_containers_are_held_to_the_same(stream, pod, container):
    pod["initContainers"] = [{**container, "image": "busybox", "livenessProbe": None}]
    assert findings(stream) == ["Deployment/judge: image busybox is not pinned"]


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
    assert set(findings(stream)) == {f"{kind}/judge: image x:latest is not pinned"}


def test_a_namespace_that_denies_nothing_is_found(stream):
    assert len(findings(stream[:1])) == 1
    stream[1]["spec"]["policyTypes"] = ["Ingress"]
    assert len(findings(stream)) == 1
