"""Evaluations of a frozen policy: what each says, and where they lie.

runs/{run_id}/evaluations/{evaluation_id}.json
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from rlaif.contracts.ids import Id, Sha256
from rlaif.files.whole import write_whole

FOLDER = "evaluations"


class EvaluatedEpisode(BaseModel):
    """One episode. The same seed, checkpoint and settings play it again."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(description="From 0; with the seed it decides start and draws.")
    start: str = Field(description="Where it started, such as power-on.")
    steps: int = Field(description="Steps of the game; a decision may last several.")
    frames: int
    ended: Literal["terminated", "truncated"]
    fault: str | None = None
    reward: float = Field(description="The game's own reward, shaping not included.")
    rooms: int
    milestones: tuple[str, ...] = Field(description="Reached in it, in order.")
    fraction: float = Field(description="Share of the main milestones, those of the start too.")


class Evaluation(BaseModel):
    """What a checkpoint did on fixed seeds."""

    model_config = ConfigDict(frozen=True)

    evaluation_id: Id
    run_id: Id = Field(description="Run whose policy was played.")
    checkpoint: str
    iteration: int
    env_steps: int
    epoch: int | None = Field(default=None, description="Of a pipeline, from 0.")
    created_at: AwareDatetime
    seconds: float
    rom_sha256: Sha256
    seed: int
    policy: Literal["greedy", "sampled"]
    episode_length: int = Field(
        description="Length at which episodes were cut, in steps of four frames."
    )
    reward_model_version: int | None = None
    fraction_mean: float
    return_mean: float
    return_std: float
    length_mean: float
    rooms_mean: float
    milestones: dict[str, float] = Field(description="Share of the episodes that reached each.")
    episodes: tuple[EvaluatedEpisode, ...]


def figures(episodes: Sequence[EvaluatedEpisode]) -> dict[str, object]:
    """The means of an evaluation of at least one episode, by field."""
    if not episodes:
        raise ValueError("an evaluation needs at least one episode")
    reached = Counter(name for episode in episodes for name in episode.milestones)
    returns = [episode.reward for episode in episodes]
    return {
        "fraction_mean": fmean(episode.fraction for episode in episodes),
        "return_mean": fmean(returns),
        "return_std": pstdev(returns),
        "length_mean": fmean(episode.steps for episode in episodes),
        "rooms_mean": fmean(episode.rooms for episode in episodes),
        "milestones": {name: count / len(episodes) for name, count in reached.most_common()},
        "episodes": tuple(episodes),
    }


def write(run_directory: Path, evaluation: Evaluation) -> Path:
    """Keep an evaluation; the file appears whole."""
    path = run_directory / FOLDER / f"{evaluation.evaluation_id}.json"
    write_whole(path, evaluation.model_dump_json(indent=1).encode())
    return path


def read_all(run_directory: Path) -> list[Evaluation]:
    """The evaluations that a run made, the oldest first."""
    found = []
    for path in (run_directory / FOLDER).glob("*.json"):
        try:
            found.append(Evaluation.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            continue  # not ours, or damaged: it must not hide the others
    return sorted(found, key=lambda each: (each.created_at, each.evaluation_id))


def best(evaluations: Sequence[Evaluation]) -> Evaluation | None:
    """The one that came furthest: milestones first, then the return; None without any."""
    return max(evaluations, key=lambda each: (each.fraction_mean, each.return_mean), default=None)
