"""Builds demonstrations from a search: its best trajectories, verified, minimized and recorded."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.game.decisions.catalog import COUNT, DECISIONS, Arm
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.game.memory.predicates import is_dying
from rlaif.game.motion.things import KINDS
from rlaif.game.policy_input.layout import INPUT_VERSION, POLICY_INPUT, SIZE
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    DemonstrationIdentity,
    Segment,
    segments,
)
from rlaif.trainer.curriculum.minimization import (
    MAX_TRIAL_STEPS,
    MinimizedParts,
    minimize,
    whole_parts,
)
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.curriculum.recording import Recorder, RecordSettings
from rlaif.trainer.curriculum.replaying import TrajectoryMismatchError, replay
from rlaif.trainer.curriculum.route import limit
from rlaif.trainer.curriculum.trajectories import Part, Trajectory, best_trajectories
from rlaif.trainer.curriculum.verification import VerifiedTrajectory, verify
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.tree import read_tree

WRONG_DECISIONS = 2.0
"""Mean number of injected decisions per subtask."""

_PATIENCE = 2.0


def with_noise(
    demonstration: Demonstration,
    segment: Segment,
    state: bytes,
    recorder: Recorder,
    rng: np.random.Generator,
    *,
    name: str,
) -> Demonstration | None:
    """Replay a subtask from its first state with noise; return None if it misses its goal.

    Args:
        demonstration: The demonstration of the subtask.
        segment: The subtask.
        state: Save state of its first start.
        recorder: Plays and records.
        rng: Draws the noise.
        name: Name of the result.
    """
    first = demonstration.states[segment.starts[0]].at
    count = segment.last - first
    wrong = rng.random(count) < min(0.5, WRONG_DECISIONS / max(1, count))
    if not wrong.any():
        wrong[int(rng.integers(count))] = True
    max_frames = limit(demonstration.frames_between(first, segment.last), _PATIENCE)
    recorder.begin(state)
    for decision, is_disturbed in zip(
        demonstration.decisions[first : segment.last].tolist(), wrong.tolist(), strict=True
    ):
        if is_disturbed:
            recorder.wait()
            choices = recorder.allowed()
            recorder.decide(choices[int(rng.integers(len(choices)))], is_noise=True)
        recorder.wait()
        recorder.decide(decision)
        if recorder.frames > max_frames or is_dying(recorder.ram):
            return None
        if segment.goal <= recorder.marks:
            return recorder.demonstration(name, part_of=(demonstration.name, segment.last))
    return None


_STEPS_PER_MINUTE = 15 * 60
"""Emulator steps of four frames, at 60 frames per second."""


@dataclass(frozen=True)
class BuildSettings:
    """How demonstrations are built.

    Attributes:
        recording: How they are recorded.
        count: Trajectories per tree.
        noised: Noisy replays per subtask.
        seed: Seed of the noise.
        processes: Worker processes for minimization; 0: use this process.
        max_trial_steps: Limit of emulator steps of the minimization of a part.
        minimized: Folder of minimized parts; None: minimize all.
    """

    recording: RecordSettings
    count: int = 6
    noised: int = 2
    seed: int = 0
    processes: int = 0
    max_trial_steps: int = MAX_TRIAL_STEPS
    minimized: Path | None = None


@dataclass(frozen=True)
class Built:
    """Result for one trajectory.

    Attributes:
        name: Name of the demonstration.
        level: Level that it reaches (`marks.level_of`).
        segments: Number of its subtasks.
        decisions: Number of its decisions.
        seconds: Duration in game time.
        cut_seconds: Game time that minimization removed.
        noised: Noisy replays that reached their goal, of `tried`.
        tried: Noisy replays that were played.
    """

    name: str
    level: float
    segments: int
    decisions: int
    seconds: float
    cut_seconds: float
    noised: int = 0
    tried: int = 0


def identity_of(cartridge: Cartridge, emulator: Emulator, actions: Arm) -> DemonstrationIdentity:
    """Return what demonstrations of this game and action set depend on."""
    return DemonstrationIdentity(
        game=cartridge.identity,
        emulator=emulator.identity,
        actions=actions,
        decisions=COUNT,
        inputs=SIZE,
        layout=_layout(),
    )


def build(
    trees: Sequence[Path],
    directory: Path,
    cartridge: Cartridge,
    actions: Arm,
    settings: BuildSettings,
    *,
    on_built: Callable[[Built], None] = lambda built: None,
    progress: Callable[[str], None] = lambda message: None,
) -> tuple[Built, ...]:
    """Write the demonstrations of some trees into a folder, highest level first.

    Trajectories without a subtask are left out, and those whose replay fails. `on_built` is called
    for each demonstration, `progress` with a message during minimization, which takes minutes.

    Raises:
        TreeError: A tree does not exist.
        TrajectoryMismatchError: No trajectory could be reproduced.
        DemonstrationsError: No trajectory reaches a flag.
        LostProcessError: A worker process ended early.
    """
    emulator = new_emulator(cartridge)
    try:
        recorder = Recorder(emulator, identity_of(cartridge, emulator, actions), settings.recording)
        trajectories = [
            trajectory for path in trees for trajectory in _trajectories(path, settings.count)
        ]
        trajectories.sort(key=lambda trajectory: -level_of(trajectory.marks))
        verified = _verified(trajectories, Player(emulator))
        parts = [whole_parts(trajectory, trajectory.needed(verified)) for trajectory in verified]

        def note(done: int, count: int) -> None:
            progress(f"minimized part {done} of {count} ({len(verified)} trajectories)")

        short = minimize(
            [each for of_trajectory in parts for each in of_trajectory],
            cartridge.data,
            sound=cartridge.needs_sound,
            processes=settings.processes,
            on_done=note,
            known=None if settings.minimized is None else MinimizedParts(settings.minimized),
            max_trial_steps=settings.max_trial_steps,
        )
        recorded = [
            _recorded(trajectory, [short[each.key] for each in of_trajectory], recorder)
            for trajectory, of_trajectory in zip(verified, parts, strict=True)
            if of_trajectory
        ]
        plays = _unique([each for each in recorded if _parts(each[0], [each[0]])])
        if not plays:
            raise library.DemonstrationsError(
                f"no trajectory in {', '.join(map(str, trees))} reaches a flag: search longer"
            )
        demonstrations = [play for play, _ in plays]
        written: list[Demonstration] = []
        results: list[Built] = []
        for play, built in plays:
            noised, tried = _noised(play, demonstrations, recorder, settings)
            count = len(_parts(play, demonstrations))
            results.append(replace(built, segments=count, noised=len(noised), tried=tried))
            on_built(results[-1])
            written += [play, *noised]
        library.write(directory, written)
    finally:
        emulator.close()
    return tuple(results)


def _layout() -> str:
    """Return a digest that changes with the meaning of any input or decision."""
    meaning = (
        INPUT_VERSION,
        [(field.name, field.slots, field.codes) for field in POLICY_INPUT.fields],
        KINDS,
        [decision.name for decision in DECISIONS],
    )
    return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]


def _trajectories(path: Path, count: int) -> tuple[Trajectory, ...]:
    with read_tree(path) as tree:
        return best_trajectories(tree, count)


def _verified(trajectories: Sequence[Trajectory], player: Player) -> list[VerifiedTrajectory]:
    """Return the reproducible trajectories; raise the first error if there is none."""
    found: list[VerifiedTrajectory] = []
    first_error: TrajectoryMismatchError | None = None
    for trajectory in trajectories:
        try:
            found.append(verify(trajectory, player))
        except TrajectoryMismatchError as error:
            first_error = first_error or error
    if first_error is not None and not found:
        raise first_error
    return found


def _recorded(
    verified: VerifiedTrajectory, parts: Sequence[Part], recorder: Recorder
) -> tuple[Demonstration, Built]:
    replay(parts, recorder)
    pressed = "".join(section.actions for part in parts for section in part.sections)
    name = hashlib.sha256(pressed.encode()).hexdigest()[:8]
    play = recorder.demonstration(name)
    left = _minutes(parts) * 60
    built = Built(
        name=name,
        level=level_of(verified.trajectory.marks),
        segments=0,
        decisions=play.length,
        seconds=left,
        cut_seconds=verified.trajectory.steps / _STEPS_PER_MINUTE * 60 - left,
    )
    return play, built


def _minutes(parts: Sequence[Part]) -> float:
    return sum(part.steps for part in parts) / _STEPS_PER_MINUTE


def _unique(plays: Sequence[tuple[Demonstration, Built]]) -> list[tuple[Demonstration, Built]]:
    """Remove duplicates with equal buttons, found in other trees or after minimization."""
    return list({play.name: (play, built) for play, built in plays}.values())


def _parts(play: Demonstration, every: Sequence[Demonstration]) -> tuple[object, ...]:
    return segments(play, play.needed(every))


def _noised(
    play: Demonstration,
    every: Sequence[Demonstration],
    recorder: Recorder,
    settings: BuildSettings,
) -> tuple[list[Demonstration], int]:
    """Return the noisy replays that reached their goal, and the number played."""
    found: list[Demonstration] = []
    tried = 0
    for segment in segments(play, play.needed(every)):
        keyframe = play.states[segment.starts[0]].keyframe
        state = unpack_keyframe(keyframe.data, keyframe.sha256)
        for copy in range(settings.noised):
            rng = np.random.default_rng([settings.seed, int(play.name, 16), segment.number, copy])
            name = f"{play.name}-{segment.number}-{copy}"
            played = with_noise(play, segment, state, recorder, rng, name=name)
            tried += 1
            if played is not None:
                found.append(played)
    return found, tried
