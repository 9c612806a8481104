"""The game: which, where its episodes start, how long they are, what it pays."""

import math
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator


class GameSettings(BaseModel, frozen=True, extra="forbid"):
    """What every environment of a run plays."""

    rom_path: Path | None = Field(
        default=None,
        description="Your own Oracle of Seasons (US) ROM; unset plays the built-in cartridge.",
    )
    initial_state_path: Path | None = Field(
        default=None,
        description="Save state at which episodes start; unset starts at power-on.",
    )
    initial_state_paths: str = Field(
        default="",
        description="More of them, separated by commas; each episode draws one of all. PATH=WEIGHT "
        "is drawn so many times as often as a PATH alone.",
    )
    frame_skip: int = Field(default=4, ge=1, le=60, description="Game frames a decision step.")
    episode_length: int = Field(
        default=30_000,
        ge=1,
        description="Decision steps after which an episode is truncated.",
    )
    reward_preset: Literal["seed", "default"] = Field(
        default="default", description="Reward weights: the seeds' own, or ours (ADR 0004)."
    )
    noop_start: int = Field(
        default=30, ge=0, le=255, description="An episode starts with 0 to this many NOP steps."
    )
    walk_start: int = Field(
        default=16,
        ge=0,
        le=255,
        description="After them come 0 to this many steps in directions drawn at random. More: "
        "episodes differ more, and say less of what the policy does from the start on.",
    )
    longest_wait_frames: int = Field(
        default=240,
        ge=0,
        description="While the player has no control, such as in a scene, a step goes on for this "
        "many game frames at most. 0: the policy acts through all of it, as in the original.",
    )
    watch_fps: float = Field(
        default=15.0,
        ge=0,
        le=60,
        description="Pictures a second of the watched environment; 0 shows none.",
    )

    @model_validator(mode="after")
    def _initial_states_are_readable(self) -> Self:
        if any(not 0 < weight < math.inf for _, weight in self.initial_states):
            raise ValueError(
                f"initial_state_paths is {self.initial_state_paths!r}: weights must be above 0 and "
                "finite; leave out what is never to be drawn"
            )
        return self

    @property
    def initial_states(self) -> tuple[tuple[Path, float], ...]:
        """(save state, weight) of each; empty for power-on."""
        first = () if self.initial_state_path is None else ((self.initial_state_path, 1.0),)
        given = [item.strip() for item in self.initial_state_paths.split(",")]
        return first + tuple(_weighted(item) for item in given if item)


def _weighted(item: str) -> tuple[Path, float]:
    """`PATH=WEIGHT`, or a path alone, which may hold a `=` too."""
    path, _, weight = item.rpartition("=")
    try:
        return (Path(path), float(weight)) if path else (Path(item), 1.0)
    except ValueError:
        return Path(item), 1.0
