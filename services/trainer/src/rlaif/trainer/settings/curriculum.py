"""Learning along demonstrations: what is imitated, and where episodes start because of it."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field


class CurriculumSettings(BaseModel, frozen=True, extra="forbid"):
    """Starts that move back along demonstrations, and imitation of them (ADR 0031)."""

    path: Path | None = Field(
        default=None,
        description="Folder of demonstrations to learn along; unset: no curriculum, and none of "
        "the settings below counts.",
    )
    tries: int = Field(
        default=12,
        ge=2,
        le=256,
        description="Last tries from a frontier that decide whether it moves. More: moves are "
        "surer and come later.",
    )
    success: float = Field(
        default=0.5,
        gt=0,
        lt=1,
        description="Share of those tries above which the frontier of a segment moves back.",
    )
    behind: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Share of a segment's starts between its frontier and its end, which was "
        "mastered before. 0 forgets it sooner.",
    )
    power_on: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Share of the play, in frames, that starts where the game itself does, while "
        "no frontier has arrived. It follows the segments from there and is cut where it misses "
        "the time of one.",
    )
    chained: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="The same once all frontiers are at the start of their segments; it grows "
        "with the square of the share that is.",
    )
    noised: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of the starts on demonstrations that begin as the game's own do, with "
        "NOOP_START and WALK_START. 0: play knows the way from exactly where the demonstration was "
        "and is lost beside it.",
    )
    arrived: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of the tries of a whole segment that start where play itself arrived at "
        "its beginning, once it has. 0: play may know each segment and not the way from one to the "
        "next.",
    )
    goes_on: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Chance that an episode which reached the end of its segment plays on towards "
        "the next one instead of being cut there. More chains more, and tries each segment less.",
    )
    patience: float = Field(
        default=3.0,
        ge=1,
        description="An episode from a demonstration is cut after this many times the frames that "
        "the demonstration took from there to the end of the segment.",
    )
    warm_start: int = Field(
        default=600,
        ge=0,
        le=100_000,
        description="Gradient steps of 256 decisions in which a new policy imitates the "
        "demonstrations, before PPO; 0 for none. More imitates better what was seen, and is surer "
        "of itself elsewhere.",
    )
    strayed: float = Field(
        default=0.2,
        ge=0,
        lt=1,
        description="Share of what half of the imitated moments show that comes from other "
        "moments: a decision is learned without what only happened to be so where it was shown. 0: "
        "play may know the way with two hearts and not with three.",
    )
    entropy: float = Field(
        default=0.01,
        ge=0,
        description="Least weight of PPO's entropy bonus while no frontier has arrived, whatever "
        "its schedule says; it falls with the share of those that have. Of no effect below "
        "TRAINER_ENTROPY, unless that falls with TRAINER_ENTROPY_STEPS.",
    )
    imitation: float = Field(
        default=0.1,
        ge=0,
        description="Weight of imitation beside PPO's loss, of the segments that do not succeed "
        "from their beginning yet; 0 for none. More keeps what was imitated until play comes to "
        "it, and also what the demonstration did worse.",
    )

    def absolute(self) -> Self:
        """The same for processes that run in other folders."""
        path = None if self.path is None else self.path.resolve()
        return self.model_copy(update={"path": path})
