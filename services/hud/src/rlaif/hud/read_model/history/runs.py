"""The runs side by side: names, progress, and the settings in which they differ."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from rlaif.contracts.run_origin import RunDescription, RunProvenance
from rlaif.hud.read_model import View
from rlaif.hud.read_model.history.run_story import RunStory


class RunView(RunDescription, View):
    """A run of the list; unknown values are null."""

    run_id: str
    seed: int | None
    game: str | None
    env_step: int
    attempts: int = Field(description="Restarts of its process that are known.")
    started_at: datetime | None
    last_at: datetime | None
    judged: bool | None = Field(description="Whether reward models are used in it.")
    loads: int
    milestones: float | None = Field(
        description="Mean per episode, of the newest 100 that count for comparisons."
    )
    settings: dict[str, str] | None = Field(
        description="Settings that are not the same in all runs, by variable; null: not reported."
    )


class RunDetail(RunView):
    """A run with the provenance required to repeat it."""

    provenance: RunProvenance | None = Field(description="Of the last attempt; null: not reported.")


def run_views(runs: Sequence[RunStory]) -> list[RunView]:
    """The runs, the newest first, with the settings in which they differ."""
    known = [run.provenance.settings for run in runs if run.provenance is not None]
    names = sorted({name for settings in known for name in settings})
    differ = [name for name in names if len({each.get(name) for each in known}) > 1]
    return [RunView(**_fields(run, differ)) for run in reversed(runs)]


def run_detail(run: RunStory) -> RunDetail:
    """One run with all of its settings, as it is not compared with others."""
    origin = run.provenance
    return RunDetail(**_fields(run, list(origin.settings) if origin else ()), provenance=origin)


def _fields(run: RunStory, differ: Sequence[str]) -> dict[str, Any]:
    origin = run.provenance
    return {
        **run.description.model_dump(),
        "run_id": run.run_id,
        "seed": origin.seed if origin else None,
        "game": origin.game if origin else None,
        "env_step": run.step,
        "attempts": run.starts[-1].attempt if run.starts else 0,
        "started_at": run.starts[0].at if run.starts else None,
        "last_at": run.at,
        "judged": run.judged,
        "loads": len(run.loads),
        "milestones": run.milestones,
        "settings": {name: origin.settings.get(name, "") for name in differ} if origin else None,
    }
