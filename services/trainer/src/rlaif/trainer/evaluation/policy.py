"""Policies for evaluation: checkpoints with at least the manifest and the weights.

    manifest.json         compatibility of the weights; see `rlaif.trainer.run_folder.checkpoints`
    policy.safetensors    the network

A policy-only checkpoint has no optimizer, games or critic: a run of mode `quest` writes one into
its folder `trained`. `policy.json`, which 0.1.0 wrote instead of the manifest, is read too.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_of
from safetensors.numpy import save as serialized

from rlaif.contracts.game.names import seed_and_size
from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.files.whole import write_whole
from rlaif.game.decisions.catalog import COUNT
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.policy_input.layout import INPUT_VERSION, SIZE
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.checkpoints import (
    MANIFEST,
    POLICY,
    CheckpointError,
    FileEntry,
    Manifest,
)

CARD = "policy.json"
"""Written by 0.1.0 instead of a manifest."""

FOLDER = "trained"
"""Folder of the policy in a run, and of the policy shipped with this package."""

MAX_BYTES = 64 << 20
MAKE_ONE = "create one with: make train-cartridge SEED=1"

Arrays = Mapping[str, npt.NDArray[Any]]


class PolicyError(Exception):
    """The policy is missing or incompatible; the message has a remedy."""


def layouts() -> dict[str, str]:
    """Interfaces of this version that a policy depends on."""
    return {
        "number of actions": str(COUNT),
        "observation layout": LAYOUT_VERSION,
        "policy input": f"{INPUT_VERSION}, {SIZE} numbers",
    }


def check(manifest: Manifest, cartridge: Cartridge) -> None:
    """Check that a policy fits this version and game; any policy may play generated worlds.

    Raises:
        PolicyError: It does not; the message names the difference.
    """
    if manifest.rom_sha256 != cartridge.sha256 and not seed_and_size(cartridge.game):
        raise PolicyError(
            f"the policy of run {manifest.run_id} was trained on another game (ROM "
            f"{manifest.rom_sha256[:12]}…, this is {cartridge.sha256[:12]}…): pass the ROM it was "
            "trained on (ROM=…)"
        )
    for name, here in layouts().items():
        own = manifest.layouts.get(name, here)
        if own != here:
            raise PolicyError(
                f"the policy of run {manifest.run_id} was trained by another version of this "
                f"program: its {name} is {own}, here it is {here}; {MAKE_ONE}"
            )


def write(directory: Path, manifest: Manifest, weights: Arrays) -> Manifest:
    """Write a policy-only checkpoint, the manifest last; returns it with the weights' digest."""
    data = serialized({name: np.ascontiguousarray(each) for name, each in weights.items()})
    entry = FileEntry(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    written = manifest.model_copy(update={"files": {POLICY: entry}, "layouts": layouts()})
    (directory / MANIFEST).unlink(missing_ok=True)  # never beside the weights of another policy
    write_whole(directory / POLICY, data)
    write_whole(directory / MANIFEST, written.model_dump_json(indent=1).encode())
    return written


def read(directory: Path) -> tuple[Manifest, dict[str, npt.NDArray[Any]]]:
    """The manifest and the weights of a policy.

    Raises:
        PolicyError: A file is missing, damaged or of another format.
    """
    manifest = read_manifest(directory)
    path = directory / POLICY
    try:
        if path.stat().st_size > MAX_BYTES:
            raise PolicyError(f"{path} is larger than {MAX_BYTES} bytes: not a policy")
        data = path.read_bytes()
    except OSError as error:
        raise PolicyError(f"{path} cannot be read: {error}; {MAKE_ONE}") from error
    if hashlib.sha256(data).hexdigest() != manifest.files[POLICY].sha256:
        raise PolicyError(f"{path} does not match its manifest: copy both files again")
    try:
        return manifest, arrays_of(data)
    except (SafetensorError, ValueError) as error:
        raise PolicyError(f"{path} is damaged: {error}; copy it again") from error


def read_manifest(directory: Path) -> Manifest:
    """The manifest alone; raises `PolicyError` as `read` does."""
    try:
        if (directory / MANIFEST).exists() or not (directory / CARD).exists():
            manifest = checkpoints.read_manifest(directory)
        else:
            manifest = _manifest_of_card(json.loads((directory / CARD).read_bytes()))
    except CheckpointError as error:
        raise PolicyError(f"{error}; {MAKE_ONE}") from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise PolicyError(f"{directory / CARD} cannot be read: {reason}; {MAKE_ONE}") from error
    if POLICY not in manifest.files:
        raise PolicyError(f"{directory} contains no {POLICY}; {MAKE_ONE}")
    return manifest


def data_dir_of(name: str) -> Path:
    """The trainer's directory in the data directory of a demo; another directory is its own."""
    given = Path(name).expanduser()
    part = given / "trainer"
    return part if (part / "runs").is_dir() else given


def find(data_dir: Path, name: str | None = None) -> Path:
    """The folder of a policy.

    Args:
        data_dir: Directory of the runs.
        name: A run's id, `RUN/iteration_N` or a folder; None for the newest policy that a run
            exported, else the one shipped with this package.

    Raises:
        PolicyError: There is none.
    """
    if name is not None:
        for folder in (data_dir / "runs" / name / FOLDER, Path(name), Path(name) / FOLDER):
            if _is_policy(folder):
                return folder
        try:
            return checkpoints.find(data_dir, name)
        except CheckpointError as error:
            raise PolicyError(f"{error}; {MAKE_ONE}") from error
    exported = [each for each in (data_dir / "runs").glob(f"*/{FOLDER}") if _is_policy(each)]
    if exported:
        return max(exported, key=lambda each: (each / POLICY).stat().st_mtime)
    if _is_policy(shipped()):
        return shipped()
    raise PolicyError(f"no policy yet, neither in {data_dir} nor in this package: {MAKE_ONE}")


def shipped() -> Path:
    """Folder of the policy that comes with this package; read-only."""
    return Path(str(resources.files("rlaif.trainer"))) / FOLDER


def _is_policy(folder: Path) -> bool:
    return (folder / POLICY).exists() and any((folder / each).exists() for each in (MANIFEST, CARD))


def _manifest_of_card(card: dict[str, Any]) -> Manifest:
    """The manifest of a policy of 0.1.0, from its `policy.json`."""
    values = (str(card["decisions"]), card["observation_layout"], card["policy_input"])
    run = {name: card[name] for name in ("run_id", "created_at")}
    return Manifest.model_validate(
        run
        | {
            "attempt": 0,
            "counters": {
                name: card[name] for name in ("iteration", "env_steps", "trained_seconds")
            },
            "hidden": card["settings"]["hidden"],
            "policy": "decisions",
            "rom_sha256": card["rom_sha256"],
            "layouts": dict(zip(layouts(), values, strict=True)),
            "files": {POLICY: {"bytes": 0, "sha256": card["weights_sha256"]}},
            "record": run
            | {
                "attempts": 0,
                "settings": json.dumps(card["settings"] | {"seed": card["seed"]}),
                "mode": "quest",
            },
        }
    )
