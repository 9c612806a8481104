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
        rom_path: The user's ROM; None plays the built-in cartridge.
        initial_state_path: Save state at which episodes start; None starts at power-on.
        frame_skip: Game frames a decision step.
        episode_length: Decision steps before an episode is truncated.
        reward_preset: Which weights the game's own reward has.
        noop_start: An episode starts with 0 to this many NOP steps, drawn from its seed.
        segment_steps: Decision steps a segment.
        keyframe_steps: Longest way from a keyframe to a segment's first step.
        shaping_weight: Scale of the reward model's potential.
        screen_path: Where environment 0 of the first runner leaves its picture; None for nowhere.
        watch_fps: Pictures a second at most.
    """

    run_id: str
    attempt: int = 0
    rom_path: Path | None = None
    initial_state_path: Path | None = None
    frame_skip: int = 4
    episode_length: int = 30_000
    reward_preset: Literal["seed", "default"] = "default"
    noop_start: int = 30
    segment_steps: int = 75
    keyframe_steps: int = 600
    shaping_weight: float = 1.0
    screen_path: Path | None = None
    watch_fps: float = 15.0
