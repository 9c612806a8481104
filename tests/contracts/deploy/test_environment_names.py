"""Compose files, manifests and pages set the names that settings read, and all that are needed.

A name that nothing reads is a setting without effect; a shared setting that nothing sets is a
service that looks for NATS on its own loopback. Neither fails at run time, so both fail here.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from rlaif.service.settings import ServiceSettings, Setting, SharedSettings, describe
from rlaif.testing.deployment import (
    Given,
    asked_for,
    compose,
    dotenv,
    interpolate,
    names_in_commands,
)
from rlaif.testing.settings_classes import EVERY, SERVICES
from rlaif.validate.manifests import Manifest, named, pods, read
from rlaif.validate.targets import targets

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
COMPOSE = ROOT / "docker-compose.yml"
EXAMPLE = ROOT / ".env.example"
CONFIG = DEPLOY / "base/config.env"

OF_THE_PLATFORM = {
    "HOME": "an arbitrary user has no home",
    "USER": "nor a name, which PyTorch asks for",
    "XDG_CACHE_HOME": "nor a place for caches",
    "NUMBA_CACHE_DIR": "as above",
    "TORCHINDUCTOR_CACHE_DIR": "as above",
    "OMP_NUM_THREADS": "one thread a library: threads that wait for each other stall",
    "OPENBLAS_NUM_THREADS": "as above",
    "MKL_NUM_THREADS": "as above",
    "PYTHONUNBUFFERED": "a log is complete when its container dies",
    "RAY_USAGE_STATS_ENABLED": "Ray tells its makers nothing",
    "RAY_JOB_STOP_WAIT_TIME_S": "Ray gives a stopped job this long to save",
}
"""Names that libraries read and no settings class does, and why they are set."""

LEFT_AT_THEIR_DEFAULT = {
    "LOG_LEVEL": "info is right until somebody looks for something",
    "LOG_FORMAT": "json is right wherever a platform collects the logs",
    "S3_REGION": "only AWS asks; there s3-external says it",
    "NATS_CA_FILE": "a cluster's, where the servers have certificates (tls-nats)",
    "S3_CA_FILE": "as above (trust)",
}
"""Shared settings that compose, or a cluster, need not set."""

NOT_IN_DOTENV = {
    "LLM_USE_DIRECT": "for KServe's addresses on a cluster",
    "LLM_NAMESPACE": "as above",
    "LLM_CA_FILE": "the file must be mounted as well, in docker-compose.override.yml",
    "TRAINER_STOP_SECONDS": "has to stay below the container's stop_grace_period",
}
"""Settings that the pages for operators name and compose does not pass on from `.env`."""

OF_MAKE = {
    "ARGS", "ARM", "BASE", "BENCH_ARGS", "CONTAINERS_ARGS", "CONTROL", "DATA_DIR", "DEMO_ARGS",
    "EPISODES", "HUD_PORT", "NAMESPACE", "ONCE", "PLAY_ARGS", "REGISTRY", "REWARDS", "ROM", "ROOMS",
    "RUN", "SEED", "SEGMENTS", "VALIDATE_ARGS", "WORLD",
}  # fmt: skip
"""Variables of the Makefile that commands on the pages set."""


OF_OTHER_PROGRAMS = {
    "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT",  # OpenTelemetry, where it is installed
    "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION",  # the AWS CLI
}  # fmt: skip
"""What commands on the pages set for programs that are not ours."""


def readers() -> set[str]:
    """Every variable that some settings class reads."""
    prefixed = {
        f"{each.service_name()}_{it.name}".replace("-", "_").upper()
        for each in EVERY
        for it in describe(each)
    }
    return prefixed | {it.environment for each in EVERY for it in describe(each)}


def needs(*paths: Path) -> None:
    for path in paths:
        if not path.exists():
            pytest.skip(f"{path.relative_to(ROOT)} is not there")


def needed() -> Iterator[Setting]:
    """The shared settings, and every credential."""
    yield from (each for each in describe(ServiceSettings) if each.shared)
    for service in SERVICES:
        for each in describe(service):
            if not each.shared and "SecretStr" in str(each.field.annotation):
                yield each


def unread(given: list[Given]) -> list[str]:
    """What is set and read by no service, with its place."""
    known = readers() | OF_THE_PLATFORM.keys()
    return sorted({f"{each.name} in {each.where}" for each in given if each.name not in known})


def unset(given: set[str]) -> list[str]:
    """Shared settings and credentials that are not given."""
    given = given | LEFT_AT_THEIR_DEFAULT.keys()
    return [each.environment for each in needed() if each.environment not in given]


@pytest.fixture(scope="session")
def cluster(rendered: Mapping[str, list[Manifest]]) -> list[Given]:
    """Environment of our containers in everything that is applied to a cluster."""
    return [given for each in targets(DEPLOY) for given in of_stream(rendered[each.name])]


def of_stream(stream: list[Manifest]) -> Iterator[Given]:
    """Environment of our containers in a rendered stream; values of secrets are empty."""
    sources = {name: values for each in stream for name, values in keys_of(each)}
    for pod in pods(stream):
        for container in pod.containers():
            if "zelda-rlaif" not in container["image"]:
                continue
            where = f"{named(pod.owner)} {container['name']}"
            for each in container.get("env") or ():
                yield Given(each["name"], str(each.get("value", "")), where)
            for each in container.get("envFrom") or ():
                source = (each.get("configMapRef") or each["secretRef"])["name"]
                for name, value in sources.get(source, {}).items():
                    yield Given(name, value, f"{where}: {source}")
    for each in stream:
        environment = yaml.safe_load((each.get("spec") or {}).get("runtimeEnvYAML") or "{}")
        for name, value in environment.get("env_vars", {}).items():
            yield Given(name, str(value), named(each))


def keys_of(manifest: Manifest) -> Iterator[tuple[str, dict[str, str]]]:
    """The ConfigMap or Secret that an object is, or that an operator makes of it."""
    spec = manifest.get("spec") or {}
    target = spec.get("target") or {}
    match manifest["kind"]:
        case "ConfigMap":
            yield manifest["metadata"]["name"], manifest.get("data") or {}
        case "SealedSecret":
            yield manifest["metadata"]["name"], dict.fromkeys(spec["encryptedData"], "")
        case "ExternalSecret":
            # Where a template makes the keys, what was fetched only goes into it.
            made = (target.get("template") or {}).get("data")
            names = made or [each["secretKey"] for each in spec.get("data") or ()]
            yield target.get("name") or manifest["metadata"]["name"], dict.fromkeys(names, "")


# --- set, and read by no service ----------------------------------------------------------------


def test_every_name_in_compose_is_read() -> None:
    needs(COMPOSE)
    assert unread(list(compose(COMPOSE))) == []


def test_every_name_in_the_manifests_is_read(cluster: list[Given]) -> None:
    assert unread(cluster) == []


def test_the_example_holds_what_compose_asks_for_and_nothing_else() -> None:
    needs(EXAMPLE, COMPOSE)
    of_compose_itself = {"COMPOSE_PROFILES"}
    assert set(dotenv(EXAMPLE, examples=True)) == asked_for(COMPOSE) | of_compose_itself


def test_a_name_of_the_platform_is_set_somewhere_and_is_no_setting(cluster: list[Given]) -> None:
    needs(COMPOSE)
    used = {each.name for each in [*compose(COMPOSE), *cluster]}
    assert OF_THE_PLATFORM.keys() - used == set()
    assert OF_THE_PLATFORM.keys() & readers() == set()


# --- read, and set nowhere ------------------------------------------------------------------------


def test_compose_sets_every_shared_setting_and_credential() -> None:
    needs(COMPOSE)
    assert unset({each.name for each in compose(COMPOSE)}) == []


def test_a_cluster_sets_every_shared_setting_and_credential(cluster: list[Given]) -> None:
    assert unset({each.name for each in cluster}) == []


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.service_name())
def test_a_service_listens_to_the_network(
    service: type[ServiceSettings], cluster: list[Given]
) -> None:
    needs(COMPOSE)
    host = f"{service.model_config['env_prefix']}HOST"
    for given in (compose(COMPOSE), cluster):
        assert {each.value for each in given if each.name == host} == {"0.0.0.0"}


@pytest.mark.parametrize(
    "page", ["alerts", "judges", "planner", "reward-models", "storage", "troubleshooting"]
)
def test_compose_passes_the_settings_of_the_operators_pages(page: str) -> None:
    needs(COMPOSE)
    words = set(re.findall(r"\w+", (ROOT / f"docs/operations/{page}.md").read_text("utf-8")))
    passed = asked_for(COMPOSE)
    missing = {
        each.environment
        for service in SERVICES
        for each in describe(service)
        if each.environment in words and each.environment not in passed
    }
    assert missing - NOT_IN_DOTENV.keys() == set()


# --- the values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("service", EVERY, ids=lambda each: each.__name__)
def test_a_cluster_gives_values_that_are_taken(service: type[SharedSettings]) -> None:
    needs(CONFIG)
    with patch.dict(os.environ, dotenv(CONFIG), clear=True):
        service()


@pytest.mark.parametrize("examples", [False, True], ids=["as-it-is", "with-all-examples"])
@pytest.mark.parametrize("service", SERVICES, ids=lambda each: each.__name__)
def test_compose_gives_values_that_are_taken(
    service: type[ServiceSettings], examples: bool
) -> None:
    needs(COMPOSE, EXAMPLE)
    containers = list(containers_of(service, examples=examples))
    assert containers, "no container runs it"
    for values in containers:
        with patch.dict(os.environ, values, clear=True):
            service()


def containers_of(service: type[ServiceSettings], *, examples: bool) -> Iterator[Mapping[str, str]]:
    """The environment of each container that runs it, with the example's values."""
    filled = {name: value or "x" for name, value in dotenv(EXAMPLE, examples=examples).items()}
    by_container: dict[str, dict[str, str]] = {}
    for each in compose(COMPOSE, filled):
        by_container.setdefault(each.where, {})[each.name] = each.value
    host = f"{service.model_config['env_prefix']}HOST"
    yield from (values for values in by_container.values() if host in values)


# --- the pages ------------------------------------------------------------------------------------


def test_every_name_that_is_set_is_on_a_page(cluster: list[Given]) -> None:
    needs(COMPOSE)
    pages = (ROOT / "docs").rglob("*.md")
    words = {word for page in pages for word in re.findall(r"\w+", page.read_text("utf-8"))}
    every = {each.name for each in [*compose(COMPOSE), *cluster]}
    assert sorted(every - words) == []


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(DEPLOY.rglob("*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_name_that_a_command_on_a_page_sets_is_read(page: Path) -> None:
    of_compose = asked_for(COMPOSE) if COMPOSE.exists() else set()
    known = readers() | OF_THE_PLATFORM.keys() | OF_MAKE | OF_OTHER_PROGRAMS | of_compose
    assert sorted(names_in_commands(page.read_text("utf-8")) - known) == []


# --- the search itself ----------------------------------------------------------------------------


def test_an_unused_name_is_reported_with_its_place() -> None:
    planted = [Given("NATS_URI", "nats://nats:4222", "docker-compose.yml judge")]
    assert unread(planted) == ["NATS_URI in docker-compose.yml judge"]
    assert unread([Given("NATS_URL", "", ""), Given("JUDGE_LOG_LEVEL", "", "")]) == []


def test_a_shared_setting_counts_as_set_by_its_plain_name() -> None:
    everything = {each.environment for each in needed()}
    assert {"NATS_URL", "S3_SECRET_KEY", "RLAIF_API_TOKEN", "LLM_API_KEY"} <= everything
    assert unset(everything - {"NATS_URL"}) == ["NATS_URL"]


def test_of_compose_only_our_containers_are_read(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(
        """
x-ours: &ours {NATS_URL: "nats://${NATS_TOKEN:?set it}@nats:4222"}
services:
  nats: {image: nats:2, environment: {NATS_SECRET: x}}
  judge: {image: "${REGISTRY:-localhost}/zelda-rlaif/service", environment: {<<: *ours, A: 1}}
  hud: {build: ., environment: [HUD_HOST=0.0.0.0]}
"""
    )
    given = list(compose(tmp_path / "compose.yml", {"NATS_TOKEN": "t"}))
    assert [(each.name, each.value) for each in given] == [
        ("NATS_URL", "nats://t@nats:4222"), ("A", "1"), ("HUD_HOST", "0.0.0.0"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}", "1"),
        ("${A:-x}", "1"),
        ("${E:-x}", "x"),
        ("${E-x}", ""),
        ("${N-x}", "x"),
        ("${N:-${A}}", "1"),
        ("${A:+y}", "y"),
        ("${N:+y}", ""),
        ("$${A}", "${A}"),
    ],
)
def test_compose_fills_in_what_is_asked_for(text: str, filled: str) -> None:
    assert interpolate(text, {"A": "1", "E": ""}) == filled


def test_a_name_without_a_value_is_given_where_the_example_has_one(tmp_path: Path) -> None:
    file = tmp_path / "compose.yml"
    file.write_text("# ${NOT_THIS}\nservices: {a: {build: ., environment: {A: , B: '${C:-1}'}}}")
    assert [each.name for each in compose(file, {})] == ["B"]
    assert [each.name for each in compose(file, {"A": "1"})] == ["A", "B"]
    assert asked_for(file) == {"A", "C"}


def test_of_manifests_every_way_into_a_container_is_read() -> None:
    stream = """
kind: Deployment
metadata: {name: judge}
spec: {template: {spec: {containers: [
  {name: judge, image: zelda-rlaif/service, env: [{name: IN_A_POD, value: "1"}],
   envFrom: [{configMapRef: {name: rlaif-config}}, {secretRef: {name: rlaif-s3}}]},
  {name: nats, image: nats, env: [{name: NOT_OURS, value: "1"}],
   envFrom: [{configMapRef: {name: other}}]}]}}}
---
{kind: RayJob, metadata: {name: train}, spec: {runtimeEnvYAML: "env_vars: {IN_A_JOB: '1'}"}}
---
{kind: ExternalSecret, metadata: {name: rlaif-s3}, spec: {data: [{secretKey: IN_A_SECRET}]}}
---
{kind: ConfigMap, metadata: {name: rlaif-config}, data: {IN_A_MAP: "1"}}
---
{kind: ConfigMap, metadata: {name: other}, data: {NOT_OURS: "1"}}
"""
    names = {each.name for each in of_stream(read(stream))}
    assert names == {"IN_A_POD", "IN_A_JOB", "IN_A_SECRET", "IN_A_MAP"}


def test_a_variable_of_the_readers_shell_is_not_one_of_a_program() -> None:
    page = (
        "```bash\nAPI=http://x\nTOKEN=$(cat it)\nTYPE='a: b'\nRUN_HOURS=2 rlaif train\n```\n`A_B=1`"
    )
    assert names_in_commands(page) == {"RUN_HOURS"}
