"""What every environment of a run is built from; travels to the runner processes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class EnvConfig:
    """Settings of the environments of one run.

    Attributes:
        run_id: Of the run.
        attempt: Rises each time the run's process is started, so that ids never repeat.
        life: 0 for a runner's first process in an attempt, a number of its own for each that
            replaces a lost one, for the same reason.
        rom_path: The user's ROM; None plays the built-in cartridge.
        initial_state_path: Save state at which episodes start; None starts at power-on.
        initial_state_paths: More of them; each episode draws one of all.
        initial_state_weights: How often each is drawn, in the order of `start_paths`; empty draws
            them alike.
        frame_skip: Game frames a decision step.
        episode_length: Decision steps before an episode is truncated.
        reward_preset: Which weights the game's own reward has.
        noop_start: An episode starts with 0 to this many NOP steps, drawn from its seed.
        walk_start: After them 0 to this many steps into directions drawn from its seed.
        longest_wait_frames: While the player has no control, a step goes on for this many game
            frames at most; 0 ends every step after `frame_skip` frames.
        best_episodes: Whole episodes that a runner keeps the actions of: its best.
        segment_steps: Decision steps a segment.
        keyframe_steps: Longest way from a keyframe to a segment's first step; 15 times that for
            segments that are chosen at their end.
        uniform_share: Share of the captures that is drawn whatever they show, 0.2 to 1.
        pictures: The policy looks at pictures: every environment draws every step.
        screen_path: Where environment 0 of the first runner leaves its picture; None for nowhere.
        watch_fps: Pictures a second at most.
    """

    run_id: str
    attempt: int = 0
    life: int = 0
    rom_path: Path | None = None
    initial_state_path: Path | None = None
    initial_state_paths: tuple[Path, ...] = ()
    initial_state_weights: tuple[float, ...] = ()
    frame_skip: int = 4
    episode_length: int = 30_000
    reward_preset: Literal["seed", "default"] = "default"
    noop_start: int = 30
    walk_start: int = 16
    longest_wait_frames: int = 240
    best_episodes: int = 0
    segment_steps: int = 75
    keyframe_steps: int = 600
    uniform_share: float = 0.3
    pictures: bool = False
    screen_path: Path | None = None
    watch_fps: float = 15.0

    @property
    def start_paths(self) -> tuple[Path, ...]:
        """All save states at which episodes start; empty for power-on."""
        first = () if self.initial_state_path is None else (self.initial_state_path,)
        return first + self.initial_state_paths
