"""Results of evaluations, one file each: episodes of a frozen policy with fixed seeds.

runs/{run_id}/evaluations/{evaluation_id}.json       of modes `evaluation` and `pipeline`
{policy folder}/trials/{player}-{seed}.json          of `rlaif evaluate`
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from rlaif.contracts.model import Id, Sha256
from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder.checkpoints import Manifest

FOLDER = "evaluations"
TRIALS = "trials"

Player = Literal["trained", "random"]

_RESAMPLES = 2_000


class EvaluatedEpisode(BaseModel):
    """One episode. The same seed, checkpoint and settings reproduce it."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(description="From 0; with the seed it determines start and draws.")
    start: str = Field(description="Where it started, such as power-on.")
    steps: int = Field(description="Emulator steps of four frames; a decision may take several.")
    frames: int = Field(description="Game frames at 60 Hz, waits included.")
    ended: Literal["terminated", "truncated"]
    fault: str | None = None
    reward: float = Field(description="The game's own reward, without shaping.")
    rooms: int
    milestones: tuple[str, ...] = Field(description="Milestones reached, in order.")
    fraction: float = Field(description="Share of the main milestones, including the start's.")
    milestone_frames: dict[str, int] = Field(
        default_factory=dict,
        description="Main milestones reached in the episode, in order, and the frame of each.",
    )
    decisions: int | None = None
    deaths: int | None = None
    essences: int | None = Field(default=None, description="Held by the player at the end.")


class Evaluation(BaseModel):
    """Result of a policy on fixed seeds."""

    model_config = ConfigDict(frozen=True)

    evaluation_id: Id
    run_id: Id = Field(description="Run whose policy was played.")
    checkpoint: str
    iteration: int
    env_steps: int
    epoch: int | None = Field(default=None, description="Epoch of a pipeline, from 0.")
    created_at: AwareDatetime
    seconds: float
    rom_sha256: Sha256
    game: str | None = Field(
        default=None, description="Name of the game that was played; null: not recorded."
    )
    seed: int
    policy: Literal["greedy", "sampled"]
    player: Player = "trained"
    episode_length: int = Field(
        description="Maximum length of an episode, in steps of four frames."
    )
    reward_model_version: int | None = None
    milestones_total: int | None = Field(
        default=None, description="Main milestones of the game; null: not recorded."
    )
    fraction_mean: float
    return_mean: float
    return_std: float
    length_mean: float
    rooms_mean: float
    milestones_iqm: float | None = Field(
        default=None,
        description="Interquartile mean of the main milestones per episode; null: not recorded.",
    )
    milestones_interval: tuple[float, float] | None = Field(
        default=None, description="95 % bootstrap interval of `milestones_iqm`."
    )
    milestones: dict[str, float] = Field(description="Share of the episodes that reached each.")
    episodes: tuple[EvaluatedEpisode, ...]

    @model_validator(mode="before")
    @classmethod
    def _of_trial(cls, data: Any) -> Any:
        """Accept a file of `rlaif-trained evaluate` of 0.1.0."""
        return _converted(data) if isinstance(data, dict) and "train_seed" in data else data

    @property
    def reached(self) -> list[int]:
        return [len(each.milestone_frames) for each in self.episodes]

    def line(self) -> dict[str, object]:
        return {
            "milestones_mean": round(fmean(self.reached), 3),
            "milestones_best": max(self.reached),
            "milestones_iqm": self.milestones_iqm,
            "milestones_interval": self.milestones_interval,
            "essence_share": round(fmean(bool(each.essences) for each in self.episodes), 4),
            "episodes": len(self.episodes),
            "milestones_total": self.milestones_total,
            "game": self.game,
            "player": self.player,
            "run": self.run_id,
            "seed": self.seed,
        }


def trial_seed(train_seed: int) -> int:
    """Seed for evaluating a policy trained with `train_seed`.

    Seeds of runs are below 2**32, so no evaluation repeats an episode of training.
    """
    return 2**32 + train_seed


def evaluation_of(
    manifest: Manifest, episodes: Sequence[EvaluatedEpisode], **fields: Any
) -> Evaluation:
    """The evaluation that ends now of the policy of a checkpoint; `fields` are the other ones."""
    return Evaluation(
        run_id=manifest.run_id,
        iteration=manifest.counters.iteration,
        env_steps=manifest.counters.env_steps,
        created_at=datetime.now(UTC),
        **({"rom_sha256": manifest.rom_sha256, "game": manifest.record.game} | fields),
        **figures(episodes),
    )


def figures(episodes: Sequence[EvaluatedEpisode]) -> dict[str, Any]:
    """The aggregates of an evaluation of at least one episode, by field."""
    if not episodes:
        raise ValueError("an evaluation needs at least one episode")
    returns = [episode.reward for episode in episodes]
    counts = [len(each.milestone_frames) for each in episodes]
    names = Counter(name for each in episodes for name in each.milestones)
    return {
        "fraction_mean": fmean(episode.fraction for episode in episodes),
        "return_mean": fmean(returns),
        "return_std": pstdev(returns),
        "length_mean": fmean(episode.steps for episode in episodes),
        "rooms_mean": fmean(episode.rooms for episode in episodes),
        "milestones_iqm": iqm(counts),
        "milestones_interval": _interval(counts),
        "milestones": {name: count / len(episodes) for name, count in names.most_common()},
        "episodes": tuple(episodes),
    }


def write(run_directory: Path, evaluation: Evaluation) -> Path:
    """Write an evaluation of a run atomically; returns its path."""
    return _write(run_directory / FOLDER / f"{evaluation.evaluation_id}.json", evaluation)


def write_trial(policy_folder: Path, evaluation: Evaluation) -> Path:
    """Write an evaluation of a policy, replacing an earlier one of the same player and seed."""
    name = f"{evaluation.player}-{evaluation.seed}.json"
    return _write(policy_folder / TRIALS / name, evaluation)


def _write(path: Path, evaluation: Evaluation) -> Path:
    write_whole(path, evaluation.model_dump_json(indent=1).encode())
    return path


def read_all(run_directory: Path, folder: str = FOLDER) -> list[Evaluation]:
    """The evaluations in a folder of a run or policy, oldest first; unreadable ones are skipped."""
    found = []
    for path in (run_directory / folder).glob("*.json"):
        try:
            found.append(Evaluation.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            continue  # foreign or damaged files do not affect the others
    return sorted(found, key=lambda each: (each.created_at, each.evaluation_id))


def best(evaluations: Sequence[Evaluation]) -> Evaluation | None:
    """The trained policy's with the most milestones, then the highest return; None without any."""
    own = [each for each in evaluations if each.player == "trained"]
    return max(own, key=lambda each: (each.fraction_mean, each.return_mean), default=None)


def iqm(values: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Interquartile mean; values that straddle a quartile count by their share in the middle half.

    Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"
    (arXiv:2108.13264).

    Raises:
        ValueError: There are no values.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not len(ordered):
        raise ValueError("an interquartile mean needs a value")
    edges = np.arange(len(ordered) + 1) / len(ordered)
    weights = np.maximum(np.minimum(edges[1:], 0.75) - np.maximum(edges[:-1], 0.25), 0.0)
    return float(ordered @ weights / weights.sum())


def _interval(scores: Sequence[int]) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the interquartile mean; equal for equal scores."""
    rng = np.random.default_rng(0)
    drawn = [iqm(each) for each in rng.choice(scores, (_RESAMPLES, len(scores)))]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _converted(trial: dict[str, Any]) -> dict[str, Any]:
    """The fields of a result of `rlaif-trained evaluate` of 0.1.0."""
    total = trial["milestones_total"]
    episodes = [
        EvaluatedEpisode.model_validate(
            each
            | {
                "start": "power-on",
                "steps": each["frames"] // 4,
                "reward": 0.0,
                "milestones": list(each["milestones"]),
                "milestone_frames": each["milestones"],
                "fraction": len(each["milestones"]) / total if total else 0.0,
            }
        )
        for each in trial["episodes"]
    ]
    player = "random" if trial["player"] == "chance" else "trained"
    return {
        **{name: trial[name] for name in ("run_id", "created_at", "seconds", "rom_sha256", "seed")},
        "evaluation_id": f"{trial['run_id']}-{player}",
        "checkpoint": trial["run_id"],
        "iteration": 0,
        "env_steps": 0,
        "policy": "sampled",
        "player": player,
        "episode_length": trial["episode_frames"] // 4,
        "milestones_total": total,
        **figures(episodes),
    }
