"""Builds demonstrations from a search: its best trajectories, verified, minimized and recorded."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.game.memory.predicates import is_dying
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import Demonstration, Segment, segments
from rlaif.trainer.curriculum.minimization import MAX_TRIAL_STEPS, minimize
from rlaif.trainer.curriculum.player import Player, Recorder, TrajectoryMismatchError
from rlaif.trainer.curriculum.route import limit
from rlaif.trainer.curriculum.trajectories import Trajectory, best_trajectories
from rlaif.trainer.curriculum.verification import Part, VerifiedTrajectory, verify
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.settings.game import GameSettings

NO_TRAJECTORY = 3
"""Exit code of the command if the searches contain no usable trajectory."""

WRONG_DECISIONS = 2.0
"""Mean number of injected decisions per subtask."""

_PATIENCE = 2.0
_FRAMES_PER_SECOND = 60


@dataclass(frozen=True)
class BuildSettings:
    """How demonstrations are built.

    Attributes:
        game: The game, with the action set and the rewards of the demonstrations.
        count: Trajectories per tree.
        states_every: Maximum decisions between start states; flags cause further ones.
        noised: Noisy replays per subtask.
        seed: Seed of the noise.
        processes: Worker processes for minimization; 0: use this process.
        max_trial_steps: Limit of emulator steps of the minimization of a part.
        minimized: Folder of minimized parts; None: minimize all.
    """

    game: GameSettings = field(default_factory=GameSettings)
    count: int = 6
    states_every: int = 4
    noised: int = 2
    seed: int = 0
    processes: int = 0
    max_trial_steps: int = MAX_TRIAL_STEPS
    minimized: Path | None = None


def build(
    trees: Sequence[Path],
    directory: Path,
    settings: BuildSettings,
    progress: Callable[[str], None] = lambda line: None,
) -> None:
    """Write the demonstrations of some trees into a folder, highest level first.

    Trajectories without a subtask are left out, and those whose replay fails. One of which a part
    cannot be carried out again ends before that part. `progress` is called with a line for each
    minimized part and for each demonstration.

    Raises:
        TreeError: A tree does not exist.
        TrajectoryMismatchError: No trajectory could be reproduced.
        DemonstrationsError: No trajectory reaches a flag.
        LostProcessError: A worker process ended early.
    """
    recorder = Recorder(settings.game, states_every=settings.states_every)
    try:
        verified = _verified(_trajectories(trees, settings.count), recorder)
        parts = [tuple(each.parts(each.needed(verified))) for each in verified]
        short = minimize(
            [part for every in parts for part in every],
            settings.game,
            processes=settings.processes,
            max_trial_steps=settings.max_trial_steps,
            folder=settings.minimized,
            on_done=lambda done, count: progress(f"minimized part {done} of {count}"),
        )
        found: dict[str, tuple[Demonstration, Trajectory]] = {}
        for each, every in zip(verified, parts, strict=True):
            play = _recorded((short[part.key] for part in every), recorder)
            if play is not None:
                found.setdefault(play.name, (play, each.trajectory))
        if not found:
            raise library.DemonstrationsError(
                f"no trajectory in {', '.join(map(str, trees))} reaches a flag: search longer"
            )
        whole = [play for play, _ in found.values()]
        written: list[Demonstration] = []
        for play, trajectory in found.values():
            subtasks = segments(play, play.needed(whole))
            noised = _noised(play, subtasks, recorder, settings)
            progress(
                f"{_described(play, trajectory)}, {len(subtasks)} subtasks, {len(noised)} of "
                f"{settings.noised * len(subtasks)} noisy replays succeeded"
            )
            written += [play, *noised]
        library.write(directory, written)
    finally:
        recorder.close()


def _trajectories(trees: Sequence[Path], count: int) -> list[Trajectory]:
    found: list[Trajectory] = []
    for path in trees:
        with read_tree(path) as tree:
            found += best_trajectories(tree, count)
    return sorted(found, key=lambda trajectory: -level_of(trajectory.marks))


def _verified(trajectories: Sequence[Trajectory], player: Player) -> list[VerifiedTrajectory]:
    """Return the reproducible trajectories; raise the first error if there is none."""
    found: list[VerifiedTrajectory] = []
    errors: list[TrajectoryMismatchError] = []
    for trajectory in trajectories:
        try:
            found.append(verify(trajectory, player))
        except TrajectoryMismatchError as error:
            errors.append(error)
    if errors and not found:
        raise errors[0]
    return found


def _recorded(parts: Iterable[Part | None], recorder: Recorder) -> Demonstration | None:
    """Record parts up to one that is None; return None if that leaves no subtask."""
    buttons = ""
    for part in parts:
        if part is None:
            break
        begin = recorder.continue_from if buttons else recorder.begin
        begin(unpack_keyframe(*part.state))
        for play in part.plays:
            recorder.replay(play)
            buttons += play.buttons
        if not part.goal.is_reached(recorder.ram, recorder.seen):
            raise TrajectoryMismatchError(f"a minimized part misses {sorted(part.goal.marks)}")
    if not buttons:
        return None
    found = recorder.demonstration(hashlib.sha256(buttons.encode()).hexdigest()[:8])
    return found if segments(found, found.needed([found])) else None


def _described(play: Demonstration, trajectory: Trajectory) -> str:
    seconds = int(play.frames.sum()) / _FRAMES_PER_SECOND
    return (
        f"a trajectory of {seconds / 60:.1f} minutes to level {level_of(trajectory.marks):g} "
        f"({trajectory.seconds / 60:.1f} minutes before minimization), {play.length} decisions"
    )


def _noised(
    play: Demonstration,
    subtasks: Sequence[Segment],
    recorder: Recorder,
    settings: BuildSettings,
) -> list[Demonstration]:
    """Return the noisy replays that reached their goal."""
    found: list[Demonstration] = []
    for subtask in subtasks:
        for copy in range(settings.noised):
            rng = np.random.default_rng([settings.seed, int(play.name, 16), subtask.number, copy])
            if _replay_with_noise(play, subtask, recorder, rng):
                name = f"{play.name}-{subtask.number}-{copy}"
                found.append(recorder.demonstration(name, part_of=(play.name, subtask.last)))
    return found


def _replay_with_noise(
    play: Demonstration, subtask: Segment, recorder: Recorder, rng: np.random.Generator
) -> bool:
    """Record a subtask with random decisions in between; return whether it reaches its goal."""
    start = play.states[subtask.starts[0]]
    count = subtask.last - start.at
    wrong = rng.random(count) < min(0.5, WRONG_DECISIONS / max(1, count))
    if not wrong.any():
        wrong[int(rng.integers(count))] = True
    max_frames = limit(play.frames_between(start.at, subtask.last), _PATIENCE)
    recorder.begin(unpack_keyframe(*start.keyframe))
    for decision, is_disturbed in zip(
        play.decisions[start.at : subtask.last].tolist(), wrong.tolist(), strict=True
    ):
        if is_disturbed:
            choices = recorder.allowed()
            recorder.decide(choices[int(rng.integers(len(choices)))], is_noise=True)
        recorder.decide(decision)
        if recorder.game.frames > max_frames or is_dying(recorder.ram):
            return False
        if subtask.goal <= recorder.seen:
            return True
    return False
