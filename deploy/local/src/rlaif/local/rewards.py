"""Rewards of a demo: the judges', or hand-crafted ones; those of a directory are of one game."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlaif.trainer.run_folder.record import RunRecord

REWARDS: dict[str, dict[str, str]] = {
    "judges": {"TRAINER_REWARD_PRESET": "novelty", "TRAINER_SHAPING_MODE": "height"},
    "game": {"TRAINER_REWARD_PRESET": "default", "TRAINER_SHAPING_MODE": "potential"},
}
"""`judges`: new heights of the reward model's potential, and a bonus for new places. `game`:
hand-crafted rewards for items and events, the same bonus, and changes of the potential."""


class OtherGameError(Exception):
    """The reward models of a data directory are of another game; the message has a remedy."""


def pipeline_runs(trainer_dir: Path) -> "list[RunRecord]":
    """Runs of the pipeline on disk, newest first."""
    if not (trainer_dir / "runs").exists():
        return []
    # Imported late, to keep the trainer's imports out of the first start-up.
    from rlaif.trainer.run_folder.record import list_runs

    return [run for run in list_runs(trainer_dir) if run.mode not in ("evaluation", "quest")]


def check_game(data_dir: Path, runs: "Sequence[RunRecord]", game: str) -> None:
    """Check that the newest run is of this game: labels and reward models belong to all runs.

    Raises:
        OtherGameError: It is of another one.
    """
    known = runs[0].game if runs else None
    if known not in (game, None):
        raise OtherGameError(
            f"{data_dir} has runs of {known}, whose reward models would be used for {game}: choose "
            "another data directory with --data-dir (make demo DATA_DIR=…)"
        )


def default_rewards(
    runs: "Sequence[RunRecord]", run_id: str | None, rom: Path | None, llm_base_url: str | None
) -> str:
    """Name of the rewards of a demo whose user chose none.

    Args:
        runs: Those of the data directory, newest first.
        run_id: Run whose rewards the demo keeps; if there is none with this id, the newest run, so
            that a new control has the same ones.
        rom: None for the built-in cartridge.
        llm_base_url: None for the mock LLM, whose expert knows the built-in cartridge and generated
            worlds only.
    """
    if runs:
        run = next((each for each in runs if each.run_id == run_id), runs[0])
        known = json.loads(run.settings).get("reward_preset")
        return "judges" if known in ("judges", "novelty") else "game"
    known_to_judges = rom is None or (rom.parent / "world.json").exists()
    return "judges" if llm_base_url or known_to_judges else "game"
