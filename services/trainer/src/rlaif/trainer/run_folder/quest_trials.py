"""How far a frozen policy comes from power-on: what each episode says, and one line of it.

    {folder of the trained policy}/trials/{name}.json

A name is `trained` or `chance` with the seed of its episodes: the same trial is written over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from rlaif.contracts.ids import Id, Sha256
from rlaif.files.whole import write_whole

FOLDER = "trials"

Player = Literal["trained", "chance"]
"""Who decides: the policy, or nobody: a draw among the decisions that its arm allows."""


@dataclass(frozen=True)
class TrialSettings:
    """What is played; travels to the processes that play.

    Attributes:
        folder: Of the trained policy.
        rom_path: Where the ROM lies; None for the embedded game.
        player: The policy, or chance in its place.
        seed: Of the episodes.
        frames: Game frames after which an episode is cut.
        greedy: Always the likeliest decision instead of a drawn one.
    """

    folder: Path
    rom_path: Path | None
    player: Player
    seed: int
    frames: int
    greedy: bool = False


class QuestEpisode(BaseModel):
    """One episode; seed, policy and settings play it again."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(description="From 0; with the seed it decides start and draws.")
    milestones: dict[str, int] = Field(
        description="Main milestones that it reached, in order, and the game frame of each."
    )
    essences: int = Field(description="That the player has at its end.")
    frames: int = Field(description="Game frames at 60 Hz, waits included.")
    decisions: int
    deaths: int
    rooms: int
    ended: Literal["terminated", "truncated"]
    fault: str | None = None


class QuestTrial(BaseModel):
    """Episodes of one player on streams that no training drew from."""

    model_config = ConfigDict(frozen=True)

    player: Player
    arm: str
    run_id: Id = Field(description="That trained the policy; of chance: whose arm it plays.")
    train_seed: int
    seed: int = Field(description="Of these episodes.")
    trained_seconds: float
    game: str
    rom_sha256: Sha256
    milestones_total: int = Field(description="Main milestones that the game has; 0: unknown.")
    episode_frames: int = Field(description="Game frames after which an episode was cut.")
    created_at: AwareDatetime
    seconds: float = Field(description="That playing them took.")
    episodes: tuple[QuestEpisode, ...] = Field(min_length=1)

    @property
    def reached(self) -> list[int]:
        """Main milestones of each episode, by number."""
        return [len(each.milestones) for each in self.episodes]

    def line(self) -> dict[str, object]:
        """What is printed of it as one line of JSON."""
        return {
            "milestones_mean": round(fmean(self.reached), 3),
            "milestones_best": max(self.reached),
            "essence_share": round(fmean(each.essences > 0 for each in self.episodes), 4),
            "episodes": len(self.episodes),
            "milestones_total": self.milestones_total,
            "player": self.player,
            "arm": self.arm,
            "run": self.run_id,
            "seed": self.seed,
        }


def trial_seed(train_seed: int) -> int:
    """Seed of a trial of what was trained with `train_seed`: one for each, and never a run's own.

    Seeds of runs are below 2**32.
    """
    return 2**32 + train_seed


def write(policy_folder: Path, trial: QuestTrial) -> Path:
    """Keep a trial beside the policy that it is of; the file appears whole."""
    path = policy_folder / FOLDER / f"{trial.player}-{trial.seed}.json"
    write_whole(path, trial.model_dump_json(indent=1).encode())
    return path


def read_all(policy_folder: Path) -> list[QuestTrial]:
    """The trials of a policy, chance first; what is damaged or not ours is left out."""
    found = []
    for path in sorted((policy_folder / FOLDER).glob("*.json")):
        try:
            found.append(QuestTrial.model_validate_json(path.read_bytes()))
        except (OSError, ValidationError):
            continue  # it must not hide the others
    return found


def reached_shares(trials: Sequence[QuestTrial]) -> dict[str, float]:
    """Share of all their episodes that reached each milestone, the commonest first."""
    episodes = [episode for trial in trials for episode in trial.episodes]
    names = dict.fromkeys(name for episode in episodes for name in episode.milestones)
    shares = {name: fmean(name in each.milestones for each in episodes) for name in names}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
