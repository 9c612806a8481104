"""What docker-compose.yml promises: nothing open, nothing root, no secret with a default."""

import re
from pathlib import Path

import pytest
import yaml

from rlaif.servers.identities import names

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docker-compose.yml").read_text()
COMPOSE = yaml.safe_load(TEXT)
EXAMPLE = (ROOT / ".env.example").read_text()
SECRETS = (
    *(f"PASSWORD_{name.upper().replace('-', '_')}" for name in names()),
    *("S3_ACCESS_KEY", "S3_SECRET_KEY", "RLAIF_API_TOKEN", "GRAFANA_PASSWORD"),
)
VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)(:?[-?][^}]*)?\}?")
BUILDERS = {name: each for name, each in COMPOSE["services"].items() if "build" in each}
OURS = {
    name: each for name, each in COMPOSE["services"].items() if "/zelda-rlaif/" in each["image"]
}

CONTAINERFILES = sorted((ROOT / "deploy" / "containers").glob("Containerfile*"))

each_container = pytest.mark.parametrize(
    "container", COMPOSE["services"].values(), ids=COMPOSE["services"]
)


def dependencies(service: str) -> set[str]:
    """The services that `up SERVICE` starts, itself included."""
    found, waiting = set(), {service}
    while waiting:
        name = waiting.pop()
        found.add(name)
        needed = COMPOSE["services"][name].get("depends_on", {})
        waiting |= {each for each, how in needed.items() if how.get("required", True)} - found
    return found


@each_container
def test_a_container_has_no_privileges_and_a_read_only_root(container):
    assert container["user"] == "${RLAIF_UID:-10001}:0"
    assert container["read_only"] is True
    assert container["cap_drop"] == ["ALL"]
    assert container["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "pid", "ipc"} & set(container)


@each_container
def test_a_container_has_limits_and_its_log_too(container):
    assert container["mem_limit"]
    assert container["pids_limit"]
    assert container["logging"]["options"]["max-size"]


@each_container
def test_a_container_that_stays_has_a_health_check_and_starts_again(container):
    once = container["restart"] == "no"
    assert once or container["restart"] == "unless-stopped"
    assert once != ("healthcheck" in container)


def test_up_wait_waits_for_the_end_of_what_runs_once():
    """Compose takes the end of a container for a failure, unless one that stays depends on it."""
    for once in (name for name, each in COMPOSE["services"].items() if each["restart"] == "no"):
        assert any(
            each.get("depends_on", {}).get(once) == {"condition": "service_completed_successfully"}
            for each in COMPOSE["services"].values()
            if each["restart"] != "no" and "profiles" not in each
        )


@each_container
def test_ports_are_open_on_this_machine_alone_and_can_be_changed(container):
    for port in container.get("ports", []):
        assert re.fullmatch(r"127\.0\.0\.1:\$\{PORT_[A-Z0-9_]+:-\d+\}:\d+", port)


# --- our images: compose builds in parallel, and two exports of one tag at once fail --------------


def test_an_image_is_built_by_exactly_one_service():
    built = [each["image"] for each in BUILDERS.values()]
    assert sorted(built) == sorted({each["image"] for each in OURS.values()})


@pytest.mark.parametrize("service", OURS)
def test_a_service_depends_on_the_one_that_builds_its_image(service):
    (builder,) = (
        name for name, each in BUILDERS.items() if each["image"] == OURS[service]["image"]
    )
    assert builder in dependencies(service)
    assert "profiles" not in BUILDERS[builder]


@pytest.mark.parametrize("service", OURS)
def test_no_registry_is_asked_for_an_image_that_is_built_here(service):
    assert OURS[service]["pull_policy"] == "never"


@pytest.mark.parametrize("service", COMPOSE["services"])
def test_a_service_depends_on_no_profile_that_may_be_off(service):
    own = set(COMPOSE["services"][service].get("profiles", []))
    for name in dependencies(service) - {service}:
        profiles = set(COMPOSE["services"][name].get("profiles", []))
        assert not profiles or (own and own <= profiles)


def test_docker_and_podman_leave_the_same_files_out_of_a_build():
    """Docker reads no .containerignore, and podman reads .dockerignore only where there is none."""
    patterns = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in patterns
    assert not list(ROOT.glob(".containerignore"))


@pytest.mark.parametrize("containerfile", CONTAINERFILES, ids=lambda path: path.name)
def test_a_build_fetches_no_other_frontend(containerfile):
    assert not re.search(r"^#\s*syntax\s*=", containerfile.read_text(), re.MULTILINE)


@each_container
def test_a_folder_of_the_host_can_be_read_under_selinux(container):
    for volume in container.get("volumes", []):
        source, target, *options = re.sub(r"\$\{[^}]*\}", "./folder", volume).split(":")
        if source.startswith((".", "/", "~")):
            assert options == ["ro,z"], target


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_has_no_default(name):
    rules = [rule for found, rule in VARIABLE.findall(TEXT) if found == name]
    assert rules
    assert all(rule.startswith(":?") for rule in rules)
    assert f"\n{name}=\n" in EXAMPLE


def test_the_example_names_every_variable_and_no_other():
    asked = {name for name, _ in VARIABLE.findall(TEXT)}
    for container in COMPOSE["services"].values():
        asked |= {name for name, value in container.get("environment", {}).items() if value is None}
    reported = set(re.findall(r"^#?([A-Z0-9_]+)=", EXAMPLE, re.MULTILINE))
    assert reported - {"COMPOSE_PROFILES"} == asked


def test_the_log_s_settings_reach_every_program_of_ours():
    for name, container in COMPOSE["services"].items():
        if any(str(each).startswith("rlaif.") for each in container.get("command", ())):
            assert {"LOG_LEVEL", "LOG_FORMAT"} <= container["environment"].keys(), name


def test_an_epoch_that_is_judged_is_one_of_the_trainer():
    """`rlaif judge-epoch` runs in a judge's container; its default is another size."""
    judge, trainer = (COMPOSE["services"][name]["environment"] for name in ("judge", "trainer"))
    assert judge["EPOCH_STEPS"] == trainer["EPOCH_STEPS"]


def test_what_the_example_sets_is_the_default():
    reported = dict(re.findall(r"^([A-Z0-9_]+)=(.+)$", EXAMPLE, re.MULTILINE))
    defaults = {name: rule[2:] for name, rule in VARIABLE.findall(TEXT) if rule[:2] == ":-"}
    assert reported == {name: defaults[name] for name in reported}


def test_the_example_pins_no_own_image_beyond_a_release():
    assert not re.findall(r"^RLAIF_[A-Z_]*IMAGE=.+$", EXAMPLE, re.MULTILINE)


def test_the_fake_docker_knows_every_container_that_it_starts():
    offline = (ROOT / "deploy" / "containers" / "compose.offline.yaml").read_text()
    known = yaml.safe_load(offline)["services"]
    started = {name for name, each in COMPOSE["services"].items() if "profiles" not in each}
    assert started <= set(known)
    assert set(known) <= set(COMPOSE["services"])
