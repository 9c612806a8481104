"""The Makefile in clones, data directories and shells of other people."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
INDEX = "file:///no/such/index"
FAKE_PYTHON = f"""#!{sys.executable} -IS
import json, os, sys
with open(os.environ["SEEN"], "a") as seen:
    seen.write(json.dumps([sys.argv[1:], dict(os.environ)]) + "\\n")
if "config" in sys.argv:
    print(os.environ.get("CONFIGURED", ""))
sys.exit("--index-url" in sys.argv and os.environ.get("INDEX_ANSWERS") != "yes")
"""
FAKE_UV = f"""#!{sys.executable} -IS
import json, os, sys
with open(os.environ["SEEN"], "a") as seen:
    seen.write(json.dumps([["uv", *sys.argv[1:]], dict(os.environ)]) + "\\n")
sys.exit("--index-url" in sys.argv or os.environ.get("UV_FAILS") == "yes")
"""
PLACES = [
    "plain",
    "a b",
    "é #1 (copy)",
    "Ada's",
    "50%41?",
    "$HOME$(id)",
    "`id`",
    'say "hi"',
    "a;b&c",
    "two  blanks",
    "$(ROM) ${x}",
    "[!] [b1] *",
    "back\\slash",
]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


class Clone:
    """The Makefile and what it needs, in a folder of its own; its Python notes how it is called."""

    def __init__(self, root: Path, *, is_set_up: bool) -> None:
        self.root = root
        self._seen = root.parent / "seen"
        names = [*ROOT.glob("*/*/pyproject.toml"), *ROOT.glob("requirements*.lock")]
        names += [ROOT / name for name in ("Makefile", "VERSION", "deploy/install.py")]
        names.append(ROOT / "deploy/containers/Containerfile")
        for path in names:
            copy = root / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        (root / ".venv/bin").mkdir(parents=True)
        (root / ".venv/lib").mkdir()
        self.program("python", FAKE_PYTHON)
        self.program("rlaif", FAKE_PYTHON)
        (root / ".venv/bin/pip").touch()
        if is_set_up:
            for stamp in (".ready", ".ready-dev"):
                (root / ".venv" / stamp).touch()

    def program(self, name: str, text: str) -> None:
        """Put a program into its environment."""
        path = self.root / ".venv/bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def make(self, *words: str, **environment: str) -> str:
        """Run make; gives what it wrote."""
        # Without the variables of an outer make: VENV=… would set up a real environment here.
        inherited = {
            name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ
        }
        run = subprocess.run(
            ["make", "-s", f"PYTHON={sys.executable}", *words],
            cwd=self.root,
            env=inherited | {"SEEN": str(self._seen)} | environment,
            check=True,
            timeout=60,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return run.stdout

    def calls(self) -> list[tuple[list[str], dict[str, str]]]:
        """Arguments and environment of each call of its Python."""
        lines = self._seen.read_text().splitlines()
        return [(words, environment) for words, environment in map(json.loads, lines)]

    def installations(self) -> list[list[str]]:
        """The arguments of each call that installs."""
        return [words for words, _ in self.calls() if "install" in words]

    def torch(self) -> list[str]:
        """The arguments of the last installation of PyTorch."""
        return [words for words, _ in self.calls() if "torch" in words][-1]


@pytest.fixture
def fresh(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone", is_set_up=False)


@pytest.mark.parametrize("target", ["train", "train-cartridge"])
@pytest.mark.parametrize("place", PLACES)
def test_the_stores_of_a_training_are_in_the_clone(tmp_path, place, target):
    clone = Clone(tmp_path / place, is_set_up=True)
    clone.make(target)
    [(words, environment)] = clone.calls()
    assert words[:1] == ["train"]
    assert ("quest" in words) is (target == "train-cartridge")
    for name, folder in (("MODELS_STORE", "models"), ("EPISODES_STORE", "episodes")):
        assert environment[name] == str(clone.root.resolve() / "var/trainer" / folder)


@pytest.mark.parametrize("place", PLACES)
def test_runs_and_stores_of_a_trained_cartridge_are_in_the_data_directory(tmp_path, place):
    clone = Clone(tmp_path / "clone", is_set_up=True)
    clone.make("train-cartridge", f"DATA_DIR={place}")
    [(words, environment)] = clone.calls()
    assert f"--data-dir={place}/trainer" in words
    assert environment["MODELS_STORE"] == str(clone.root.resolve() / place / "trainer/models")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("given", ["argument", "environment"])
@pytest.mark.parametrize(
    ("variable", "options"),
    [
        ("DATA_DIR", {"demo": "--data-dir=", "play-trained": "--data-dir="}),
        ("RUN", {"play-trained": "--"}),
        (
            "ROM",
            {
                "demo": "--rom=",
                "train": "--rom-path=",
                "play": "--",
                "replay-check": "--",
                "ladder": "--rom=",
            },
        ),
    ],
)
def test_a_path_is_handed_on_as_it_is(tmp_path, place, given, variable, options):
    clone = Clone(tmp_path / "clone", is_set_up=True)
    path = f"/data/{place}"
    if given == "argument":
        clone.make(*options, f"{variable}={path}")
    else:
        clone.make(*options, **{variable: path})
    # `ladder` sets another library up first.
    calls = [words for words, _ in clone.calls() if "install" not in words]
    for words, option in zip(calls, options.values(), strict=True):
        if option == "--":
            assert words[-2:] == ["--", path]
        else:
            assert option + path in words


@pytest.mark.parametrize(
    ("given", "called"),
    [
        (
            ["demo", "DATA_DIR=~/a  b", "ROM=~/x~/y.gbc"],
            ["demo", "--data-dir=/home/ada/a  b", "--rom=/home/ada/x~/y.gbc"],
        ),
        (["play"], ["play"]),
        (["demo", "HUD_PORT=80 86"], ["demo", "--hud-port=80 86"]),
    ],
    ids=["paths below the home directory", "no ROM", "a port is one word"],
)
def test_words_do_not_depend_on_the_shell(tmp_path, given, called):
    clone = Clone(tmp_path / "clone", is_set_up=True)
    clone.make(*given, HOME="/home/ada")
    assert clone.calls()[0][0] == called


def test_a_control_is_a_run_of_its_own_without_the_reward_of_the_judges(tmp_path):
    clone = Clone(tmp_path / "clone", is_set_up=True)
    clone.make("demo", "CONTROL=1", "REWARDS=game")
    clone.make("demo", "CONTROL=0", "ONCE=0")
    (called, control), (words, plain) = clone.calls()
    assert words == ["demo"]
    assert called == ["demo", "--rewards=game"]
    chosen = {"TRAINER_RUN_ID": "control", "TRAINER_SHAPING_WEIGHT": "0"}
    assert control.items() >= chosen.items()
    assert plain.keys().isdisjoint(chosen)


@pytest.mark.parametrize(
    ("given", "run"),
    [
        (["SEED=2"], ["--", "cartridge-2"]),
        (["ARM=options"], ["--", "cartridge-options-1"]),
        (["WORLD=7", "SEED=2"], ["--", "world-7-30-2"]),
        (["SEED=2", "RUN=other"], ["--", "other"]),
        ([], ["--episodes", "64"]),
    ],
)
def test_a_run_of_train_cartridge_is_evaluated_by_the_same_variables(tmp_path, given, run):
    clone = Clone(tmp_path / "clone", is_set_up=True)
    clone.make("evaluate-trained", *given)
    assert clone.calls()[0][0][-2:] == run


def test_settings_of_another_python_and_of_pip_do_not_reach_the_set_up(fresh):
    ignored = {
        "PIP_USER": "1", "PIP_TARGET": "/t", "PIP_PREFIX": "/p", "PIP_ROOT": "/r",
        "PIP_NO_DEPS": "1", "PIP_DRY_RUN": "1", "PIP_NO_BINARY": ":all:", "PIP_REQUIRE_HASHES": "1",
        "PIP_CONSTRAINT": "/c", "PIP_PYTHON": "/x", "PYTHONHOME": "/usr", "PYTHONPATH": "/ros",
    }  # fmt: skip
    kept = {"PIP_EXTRA_INDEX_URL": "file:///more", "PIP_PROXY": "http://p:1", "PIP_CERT": "/cert"}
    fresh.make("setup", **ignored, **kept)
    for words, environment in fresh.calls():
        assert set(ignored).isdisjoint(environment)
        assert kept.items() <= environment.items()
        assert "install" not in words or "--no-user" in words


def has_gpu() -> bool:
    return Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None


@pytest.mark.skipif(sys.platform != "linux" or has_gpu(), reason="PyPI's own wheel is right here")
def test_without_a_gpu_pytorch_comes_from_its_index_for_cpus(fresh):
    fresh.make("setup", INDEX_ANSWERS="yes")
    index = fresh.torch()[fresh.torch().index("--index-url") + 1]
    assert f"ARG TORCH_INDEX={index}\n" in (ROOT / "deploy/containers/Containerfile").read_text()
    assert len([words for words, _ in fresh.calls() if "torch" in words]) == 1


@pytest.mark.skipif(sys.platform != "linux" or has_gpu(), reason="PyPI's own wheel is right here")
def test_an_index_that_does_not_answer_is_named_and_pips_own_is_asked(fresh):
    [warning] = [line for line in fresh.make("setup").splitlines() if "No PyTorch for CPUs" in line]
    assert "2.7 GB" in warning
    assert "--index-url" not in fresh.torch()


def test_a_named_index_is_used_in_any_configuration_of_pip(fresh):
    fresh.make(
        "setup", f"TORCH_INDEX={INDEX}", CONFIGURED="global.index-url='x'", INDEX_ANSWERS="yes"
    )
    assert INDEX in fresh.torch()


def test_tools_of_developers_are_not_installed_for_the_demo(fresh):
    fresh.make("demo")
    assert not [words for words in fresh.installations() if "requirements-dev.lock" in words]
    fresh.make("setup-dev")
    assert [words for words in fresh.installations() if "requirements-dev.lock" in words]


def test_uv_comes_from_the_lock_and_installs_all_else(fresh):
    fresh.make("setup")
    first = fresh.installations()[0]
    assert first[-4:-1] == ["--no-deps", "--require-hashes", "-r"]
    assert "requirements.lock" not in first
    fresh.program("uv", FAKE_UV)
    before = len(fresh.installations())
    (fresh.root / ".venv/.ready").unlink()
    fresh.make("setup")
    assert {words[0] for words in fresh.installations()[before:]} == {"uv"}


def test_pip_installs_the_same_where_uv_fails(fresh):
    fresh.program("uv", FAKE_UV)
    fresh.make("setup", UV_FAILS="yes")
    asked = ["--no-deps", "--require-hashes", "-r", "requirements.lock"]
    by_uv, by_pip = (words for words in fresh.installations() if words[-4:] == asked)
    assert by_uv[0] == "uv"
    assert by_pip[:2] == ["-m", "pip"]


@pytest.mark.parametrize("name", ["plain", "é"])
def test_a_clone_whose_path_the_locale_cannot_spell_is_read_as_utf_8(tmp_path, name):
    """Not by PYTHONUTF8, which Python's `site` ignores when it reads the paths of packages."""
    clone = Clone(tmp_path / name, is_set_up=False)
    clone.make("setup", LC_ALL="C")
    locale = "C.UTF-8" if name == "é" else "C"
    assert {environment["LC_ALL"] for _, environment in clone.calls()} == {locale}


@pytest.mark.parametrize("home", ["folder", "file", "missing"])
def test_uv_goes_without_a_cache_where_there_is_no_home(fresh, tmp_path, home):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    fresh.program("uv", FAKE_UV)
    homes = {"folder": "folder", "file": "file", "missing": "file/none"}
    fresh.make("setup", HOME=str(tmp_path / homes[home]))
    [environment, *_] = [environment for words, environment in fresh.calls() if words[0] == "uv"]
    assert ("UV_NO_CACHE" in environment) == (home != "folder")


def test_ctrl_c_in_the_set_up_leaves_no_traceback(fresh):
    # A process inherits that the signal is ignored, as a job of a shell in the background is.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    fresh.program("python", FAKE_PYTHON.replace("print(", "os.kill(os.getppid(), 2); print("))
    with pytest.raises(subprocess.CalledProcessError) as ended:
        fresh.make("setup")
    assert "Traceback" not in ended.value.output


def test_uv_uses_the_sources_of_pips_configuration(fresh):
    fresh.program("uv", FAKE_UV)
    configured = (
        "global.index-url='https://a/simple'\nglobal.proxy='http://old:1'\n"
        "install.find-links='/wheels /more'\n:env:.proxy='http://p:1'\n:env:.no-index='true'"
    )
    fresh.make("setup", CONFIGURED=configured)
    for words, environment in fresh.calls():
        if words[0] == "uv":
            assert "--default-index=https://a/simple" in words
            assert {"--find-links=/wheels", "--find-links=/more", "--no-index"} <= set(words)
            assert environment["ALL_PROXY"] == "http://p:1"


def test_the_help_has_every_target_in_a_group_and_fits_80_columns():
    run = subprocess.run(
        ["make", "-s", "help"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=60
    )
    lines = run.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    described = re.findall(r"^([a-z0-9-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    shown = [line.split()[1] for line in lines if line.startswith("  make ")]
    assert sorted(shown) == sorted(described)


@pytest.mark.parametrize(
    ("given", "slips"),
    [
        ("HUD_PROT=3", True),
        ("TRAINER_GAMA=0.9", True),
        ("HUD_PORT=3", False),
        ("TRAINER_SHAPING_WEIGHT=0", False),
    ],
)
def test_a_variable_that_nothing_reads_is_reported(given, slips):
    run = subprocess.run(
        ["make", "-s", "help", given],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (given.split("=")[0] in run.stderr) is slips
