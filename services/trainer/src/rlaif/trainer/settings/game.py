"""The game: ROM, start states, episode length, rewards, exploration, captures."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from rlaif.contracts.game.names import WORLD_SEEDS, world_names
from rlaif.service.settings import INTERNAL
from rlaif.trainer.settings.kept import FIXED, UNLESS_SET

Actions = Literal["seed", "buttons", "macros", "options"]
"""Action spaces; see `rlaif.game.decisions`."""

DEFAULT_ACTIONS: Actions = "macros"

STEP_FRAMES = 4
"""Game frames of a base step; a decision takes one or more. Settings that are durations count steps
of this length, 15 per second of game time."""


def steps_lasting(steps: int, frame_skip: int) -> int:
    """Convert steps of four frames to steps of `frame_skip` frames, rounded up."""
    return -(-steps * STEP_FRAMES // frame_skip)


class GameSettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """The game that every environment of a run plays."""

    rom_path: Path | None = Field(
        default=None,
        validation_alias="ROM_PATH",
        description="Path of an Oracle of Seasons (US) ROM. Unset: the built-in cartridge.",
    )
    worlds: str = Field(
        default="",
        pattern=rf"^({WORLD_SEEDS.pattern})?$",
        description="Generated worlds instead of ROM_PATH, by their seeds: `7` or `1-64`, of 30 "
        "rooms, or of as many as in `1-64x60`. Each environment plays one of them, in turn. With "
        "several worlds, episodes start at power-on, and no environment explores.",
    )
    initial_state_path: Path | None = Field(
        default=None,
        description="Save state at which episodes start. Unset: power-on.",
    )
    initial_state_paths: str = Field(
        default="",
        description="Further save states, separated by commas; each episode starts at a random "
        "one. PATH=WEIGHT is drawn WEIGHT times as often as a PATH alone.",
    )
    actions: Actions = Field(
        default=DEFAULT_ACTIONS,
        description="Action space. seed: the eight buttons of the original specification, "
        "FRAME_SKIP frames each; buttons: the same plus long walks, jumps and items put on B; "
        "macros: everything up to walking to an object; options: macros without single buttons "
        "(ADR 0028).",
        json_schema_extra=FIXED,
    )
    frame_skip: int = Field(
        default=4,
        ge=1,
        le=60,
        description="Game frames per step. Values other than 4 require TRAINER_ACTIONS=seed.",
        json_schema_extra=FIXED,
    )
    episode_length: int = Field(
        default=30_000,
        validation_alias="EPISODE_LENGTH",
        ge=1,
        description="Maximum episode length in steps of four frames: 30,000 are 33 minutes of game "
        "time. With TRAINER_ACTIONS=seed, waiting frames do not count. Mode evaluation plays "
        "15,000 steps, with TRAINER_ACTIONS=seed 3,000.",
    )
    death_ends: bool | None = Field(default=None, json_schema_extra=INTERNAL)
    """Whether an episode ends when the player dies. If false, it continues at the respawn point;
    the death penalty still applies. None: only with the seed action set."""
    reward_preset: Literal["seed", "default", "judges", "novelty"] = Field(
        default="default",
        description="Reward weights. default; seed: those of the original specification "
        "(ADR 0004); judges: deaths only, besides the reward model; novelty: deaths, and rooms "
        "and grid squares that few episodes visited.",
        json_schema_extra=UNLESS_SET,
    )
    noop_start: int = Field(default=30, ge=0, le=255, json_schema_extra=INTERNAL)
    """An episode starts with 0 to this many steps of four frames without a button."""
    walk_start: int = Field(default=16, ge=0, le=255, json_schema_extra=INTERNAL)
    """Then follow 0 to this many steps of four frames in random directions."""
    longest_wait_frames: int = Field(default=240, ge=0, json_schema_extra=INTERNAL)
    """While the player has no control, as in a cutscene, a step is extended up to this many
    frames. 0: the policy acts throughout, as in the original."""
    watch_fps: float = Field(default=20.0, ge=0, le=60, json_schema_extra=INTERNAL)
    """Pictures per second of the watched environment; 0 disables them. Runners of a Ray cluster
    send at most 10."""

    @model_validator(mode="after")
    def _decisions_are_made_of_base_steps(self) -> Self:
        if self.by_decisions and self.frame_skip != STEP_FRAMES:
            raise ValueError(
                f"frame_skip is {self.frame_skip} but decisions of TRAINER_ACTIONS={self.actions} "
                f"are made of steps of {STEP_FRAMES} frames: leave TRAINER_FRAME_SKIP at "
                f"{STEP_FRAMES}, or set TRAINER_ACTIONS=seed"
            )
        return self

    @model_validator(mode="after")
    def _worlds_are_a_range(self) -> Self:
        if self.worlds and not world_names(self.worlds):
            raise ValueError(f"worlds is {self.worlds!r}: give the lower seed first, as in 1-64")
        return self

    @model_validator(mode="after")
    def _initial_states_are_readable(self) -> Self:
        if any(not 0 < weight < math.inf for _, weight in self.initial_states):
            raise ValueError(
                f"initial_state_paths is {self.initial_state_paths!r}: weights must be above 0 and "
                "finite; leave out what is never to be drawn"
            )
        return self

    @property
    def has_many_worlds(self) -> bool:
        return len(world_names(self.worlds)) > 1

    def rom_of(self, environment: int) -> Path | None:
        """The ROM of an environment of the run."""
        if self.rom_path is None or not self.has_many_worlds:
            return self.rom_path
        names = world_names(self.worlds)
        name = names[environment % len(names)]
        return self.rom_path.parent.parent / name / self.rom_path.name

    @property
    def by_decisions(self) -> bool:
        """Whether decisions differ in length; otherwise each is one step."""
        return self.actions != "seed"

    @property
    def ends_at_death(self) -> bool:
        return not self.by_decisions if self.death_ends is None else self.death_ends

    def with_files(self, of: Callable[[Path], Path]) -> Self:
        """Return the same game with other paths: `of` maps each file."""
        one, more = self.initial_state_path, self.model_copy(update={"initial_state_path": None})
        return self.model_copy(
            update={
                "rom_path": self.rom_path and of(self.rom_path),
                "initial_state_path": one and of(one),
                "initial_state_paths": ",".join(
                    f"{of(path)}={weight!r}" for path, weight in more.initial_states
                ),
            }
        )

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


class CaptureSettings(BaseModel, frozen=True, extra="forbid"):
    """Which segments are captured, and how many."""

    segment_frames: int = Field(default=300, ge=4, json_schema_extra=INTERNAL)
    """Game frames per segment, waits excluded; fixed by the specification."""
    keyframe_steps: int = Field(default=600, ge=1, json_schema_extra=INTERNAL)
    """Longest replay before a segment, in steps of four frames; a save state costs about 30 ms."""
    uniform_share: float = Field(default=0.3, ge=0.2, le=1, json_schema_extra=INTERNAL)
    """Share of the captures drawn uniformly, for unbiased metrics. The others are chosen where the
    ensemble disagrees, and for new rooms and milestones."""
    spool_captures: int = Field(default=500, ge=1, json_schema_extra=INTERNAL)
    """Maximum captures waiting on disk, about 10 kB each. Further ones are dropped and counted."""
    best_episodes: int = Field(default=3, ge=0, json_schema_extra=INTERNAL)
    """Best episodes of a run whose actions are kept, for `rlaif evaluate RUN --recorded N`."""

    def segment_steps(self, frame_skip: int) -> int:
        """Emulator steps per segment, of `frame_skip` frames each."""
        return max(1, self.segment_frames // frame_skip)


class ExploreSettings(BaseModel, frozen=True, extra="forbid"):
    """Share of play that is exploration."""

    share: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Share of the run's environments in which a search decides, not the policy "
        "(ADR 0010). Their steps are captured and judged, but not learned from. No effect with "
        "TRAINER_ACTIONS=seed, with several worlds, and with a single environment.",
    )
