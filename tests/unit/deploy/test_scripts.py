"""`make deploy-secrets` and `make image-pins`, with stand-ins for `oc` and the container engine."""

import base64
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from rlaif.servers.identities import names
from rlaif.servers.nats_server import find_nats_server

ROOT = Path(__file__).parents[3]
SECRETS = ROOT / "deploy/cluster_secrets.py"
PINS = ROOT / "deploy/image_pins.py"
CLIENT = """
import json, os, pathlib, sys
store = pathlib.Path({store!r})
known = json.loads(store.read_text()) if store.exists() else {{}}
if {refuses!r}:
    sys.exit({refuses!r})
if sys.argv[1] == "get":
    print(json.dumps({{"items": list(known.values())}}))
else:
    assert sys.argv[1:] == ["apply", "--server-side", "--force-conflicts", "-f", "-"]
    sent = json.load(sys.stdin)
    known[sent["metadata"]["name"]] = sent
    store.write_text(json.dumps(known))
"""


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def program(file: Path, text: str) -> Path:
    file.write_text(f"#!{sys.executable}\n{text}")
    file.chmod(0o755)
    return file


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """The file of the Secrets in the cluster; `oc` beside it reads and writes them."""
    store = tmp_path / "secrets.json"
    program(tmp_path / "oc", CLIENT.format(store=str(store), refuses=""))
    return store


def deploy_secrets(cluster: Path, **given: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        str(SECRETS),
        "--namespace",
        "x",
        "--client",
        str(cluster.with_name("oc")),
    ]
    return subprocess.run(command, env={**given}, capture_output=True, text=True, check=False)


def values(cluster: Path) -> dict[str, dict[str, str]]:
    return {
        name: {key: base64.b64decode(each).decode() for key, each in secret["data"].items()}
        for name, secret in json.loads(cluster.read_text()).items()
    }


def test_all_secrets_are_made_with_the_keys_that_pods_ask_for(cluster: Path) -> None:
    assert deploy_secrets(cluster).returncode == 0
    keys = {}
    for file in (ROOT / "deploy/components/secrets-sealed").glob("*.yaml"):
        for each in yaml.safe_load_all(file.read_text()):
            if each["kind"] == "SealedSecret":
                keys[each["metadata"]["name"]] = set(each["spec"]["encryptedData"])
    one_key = keys.pop("rlaif-s3")
    keys |= {f"rlaif-s3-{name}": one_key for name in names()}
    assert {name: set(data) for name, data in values(cluster).items()} == keys
    made = values(cluster)
    assert made["rlaif-llm"]["LLM_API_KEY"] == made["rlaif-api"]["RLAIF_API_TOKEN"]
    password = json.loads(made["rlaif-nats-server"]["NATS_JUDGE_PASSWORD"])
    assert made["rlaif-nats-judge"]["NATS_URL"] == f"nats://judge:{password}@nats:4222"
    assert made["rlaif-s3-judge"]["S3_ACCESS_KEY"] == "judge"
    every = [data[key] for data in made.values() for key in data if key.endswith(("_KEY", "URL"))]
    assert len(set(every)) == len(every) - 1, "but the keys of the mock of the models"


def test_a_store_with_one_key_for_all_services_gets_one_secret(cluster: Path) -> None:
    deploy_secrets(cluster, S3_ACCESS_KEY="ours", S3_SECRET_KEY="hunter2")
    made = values(cluster)
    assert made["rlaif-s3"] == {"S3_ACCESS_KEY": "ours", "S3_SECRET_KEY": "hunter2"}
    assert not [name for name in made if name.startswith("rlaif-s3-")]


def test_a_store_with_one_key_keeps_it_when_another_value_is_replaced(cluster: Path) -> None:
    deploy_secrets(cluster, S3_ACCESS_KEY="ours", S3_SECRET_KEY="hunter2")
    deploy_secrets(cluster, RLAIF_API_TOKEN="new")
    made = values(cluster)
    assert made["rlaif-s3"] == {"S3_ACCESS_KEY": "ours", "S3_SECRET_KEY": "hunter2"}
    assert not [name for name in made if name.startswith("rlaif-s3-")], "pods would prefer them"


def test_one_key_is_refused_while_pods_read_others_in_its_place(cluster: Path) -> None:
    deploy_secrets(cluster)
    before = cluster.read_text()
    done = deploy_secrets(cluster, S3_ACCESS_KEY="ours", S3_SECRET_KEY="hunter2")
    assert done.returncode == 2
    assert "delete secret -n x rlaif-s3-admin rlaif-s3-exporter" in done.stderr
    assert cluster.read_text() == before


def test_no_value_is_printed(cluster: Path) -> None:
    done = deploy_secrets(cluster, S3_ACCESS_KEY="ours", S3_SECRET_KEY="hunter2")
    every = {value for data in values(cluster).values() for value in data.values()}
    printed = set(re.split(r"[\s,:]+", done.stdout + done.stderr))
    assert printed & every == set()
    assert "S3_SECRET_KEY (given)" in done.stdout


def test_a_second_time_everything_is_kept(cluster: Path) -> None:
    deploy_secrets(cluster)
    first = cluster.read_text()
    done = deploy_secrets(cluster)
    assert cluster.read_text() == first
    assert done.stdout.count(": kept\n") == 15


def test_what_is_missing_is_added_and_the_rest_stays(cluster: Path) -> None:
    deploy_secrets(cluster)
    known, first = json.loads(cluster.read_text()), values(cluster)
    del known["rlaif-nats-judge"], known["rlaif-llm"]["data"]["TRAINER_PLANNER_API_KEY"]
    cluster.write_text(json.dumps(known))
    deploy_secrets(cluster)
    assert values(cluster) == first


@pytest.mark.parametrize("password", ["p#w", "a/b", "a,b", "a@b:c", "%41", "ä b", "123", 'a"b\\c'])
def test_a_given_password_is_one_that_the_server_reads_and_an_address_holds(
    cluster: Path, password: str
) -> None:
    deploy_secrets(cluster, NATS_ADMIN_PASSWORD=password)
    made = values(cluster)
    assert json.loads(made["rlaif-nats-server"]["NATS_ADMIN_PASSWORD"]) == password
    config = ROOT / "deploy/base/nats/nats.conf"
    done = subprocess.run(
        [find_nats_server(), "-t", "--config", config],
        env={"NATS_SERVER_NAME": "nats-0", **made["rlaif-nats-server"]},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    encoded = made["rlaif-nats-admin"]["NATS_URL"].partition("admin:")[2].removesuffix("@nats:4222")
    assert not set(encoded) & set("#/,@: ")


def test_a_new_token_reaches_the_mock_and_leaves_the_keys_of_real_models(cluster: Path) -> None:
    deploy_secrets(cluster, TRAINER_PLANNER_API_KEY="theirs")
    deploy_secrets(cluster, RLAIF_API_TOKEN="new")
    made = values(cluster)["rlaif-llm"]
    assert made == {"LLM_API_KEY": "new", "TRAINER_PLANNER_API_KEY": "theirs"}


def test_a_secret_that_an_operator_makes_is_left_alone(cluster: Path) -> None:
    deploy_secrets(cluster, S3_ACCESS_KEY="ours")
    known = json.loads(cluster.read_text())
    known["rlaif-s3"]["data"] = {"AWS_ACCESS_KEY_ID": "eA=="}
    known["rlaif-s3"]["metadata"]["ownerReferences"] = [{"kind": "ObjectBucketClaim"}]
    cluster.write_text(json.dumps(known))
    assert "rlaif-s3: left to its ObjectBucketClaim\n" in deploy_secrets(cluster).stdout
    assert set(values(cluster)["rlaif-s3"]) == {"AWS_ACCESS_KEY_ID"}


# --- image pins -----------------------------------------------------------------------------------


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    file = tmp_path / "kustomization.yaml"
    file.write_text((ROOT / "deploy/components/image-pins/kustomization.yaml").read_text())
    return file


@pytest.fixture
def image_pins(tmp_path: Path, pins: Path) -> Callable[..., int]:
    main = module(PINS).main

    def run(registry: str, engine: str = "/nowhere/podman") -> int:
        paths = ["--file", str(pins), "--pushed", str(tmp_path / "pushed")]
        return int(main(["--registry", registry, "--tag", "1", "--engine", engine, *paths]))

    return run


def pushed(folder: Path, registry: str, digit: str = "a") -> None:
    folder.mkdir(exist_ok=True)
    for part in ("service", "reward-model", "trainer"):
        name = f"zelda-rlaif-{part}"
        (folder / f"{name}.digest").write_text(f"{registry}/{name}@sha256:{digit * 64}\n")


def pinned(pins: Path) -> dict[str, tuple[str, str]]:
    return {
        each["name"]: (each["newName"], each["digest"])
        for each in yaml.safe_load(pins.read_text())["images"]
        if "digest" in each
    }


def test_the_digests_of_the_push_are_written_and_all_else_stays(tmp_path, pins, image_pins) -> None:
    before = pins.read_text().splitlines()
    pushed(tmp_path / "pushed", "quay.io:443/me/deep")
    assert image_pins("quay.io:443/me/deep/") == 0
    assert pinned(pins) == {
        f"zelda-rlaif/{part}": (f"quay.io:443/me/deep/zelda-rlaif-{part}", "sha256:" + "a" * 64)
        for part in ("service", "reward-model", "trainer")
    }
    changed = [a for a, b in zip(before, pins.read_text().splitlines(), strict=True) if a != b]
    assert len(changed) == 6


def test_without_a_digest_file_the_engine_is_asked(tmp_path, pins, image_pins) -> None:
    answer = "[f\"{name}@sha256:{'b' * 64}\", f\"other/{name}@sha256:{'c' * 64}\"]"
    text = f"import json, sys\nname = sys.argv[-1].rpartition(':')[0]\nprint(json.dumps({answer}))"
    engine = program(tmp_path / "podman", text)
    assert image_pins("quay.io/me", str(engine)) == 0
    assert {digest for _, digest in pinned(pins).values()} == {"sha256:" + "b" * 64}


def test_a_digest_of_another_registry_pins_nothing(tmp_path, pins, image_pins, capsys) -> None:
    before = pins.read_text()
    pushed(tmp_path / "pushed", "quay.io/somebody")
    assert image_pins("quay.io/me") == 2
    assert "make images REGISTRY=quay.io/me" in capsys.readouterr().err
    assert pins.read_text() == before


# --- make -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["deploy-secrets", "images", "image-pins"])
def test_a_target_says_which_variable_it_needs(target: str) -> None:
    done = subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.search(rf"make {target} (NAMESPACE|REGISTRY)=", done.stderr)


@pytest.mark.parametrize(
    "target", ["secrets", "deploy-secrets NAMESPACE=x", "image-pins REGISTRY=x"]
)
def test_a_script_needs_any_python_and_reports_it_where_there_is_none(target: str) -> None:
    nothing = ["make", *target.split(), "PYTHON=", "ANY_PYTHON="]
    done = subprocess.run(nothing, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No Python 3 was found" in done.stderr


def test_secrets_of_compose_run_on_a_python_that_cannot_make_environments(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    for name in ("Makefile", "VERSION", ".env.example", "deploy/containers/make_secrets.py"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((ROOT / name).read_text())
    old = tmp_path / "bin/python3"  # `import venv` fails, and it says that it is 3.9
    old.parent.mkdir()
    old.write_text(f'#!/bin/sh\ncase "$1" in -c) exit 1;; esac\nexec {sys.executable} "$@"\n')
    old.chmod(0o755)
    for name in ("python3.11", "python3.12", "python3.13", "python3.14"):
        (old.parent / name).symlink_to(old)
    done = subprocess.run(
        ["make", "secrets"], cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": f"{old.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "RLAIF_API_TOKEN=" in (folder / ".env").read_text()
