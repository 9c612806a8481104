"""Builds demonstrations from a search: its best trajectories, verified, minimized and recorded."""

import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rlaif.game.captures.capture import PackedKeyframe, unpack_keyframe
from rlaif.game.memory.predicates import is_dying
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import Demonstration, Segment, segments
from rlaif.trainer.curriculum.minimization import MAX_TRIAL_STEPS, Plays, minimize
from rlaif.trainer.curriculum.player import Player, Recorder
from rlaif.trainer.curriculum.subtasks import limit
from rlaif.trainer.curriculum.trajectories import best_trajectories
from rlaif.trainer.curriculum.verification import Part, VerifiedTrajectory, verify
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.tree import Node, read_tree
from rlaif.trainer.settings.game import GameSettings

NO_TRAJECTORY = 3
"""Exit code of the command if the searches contain no usable trajectory."""

WRONG_DECISIONS = 2.0
"""Mean number of injected decisions per subtask."""

_PATIENCE = 2.0
_FRAMES_PER_MINUTE = 3600


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

    Trajectories without a subtask are left out, and those whose replay fails. `progress` is called
    with a line for each minimized part and for each demonstration.

    Raises:
        TreeError: A tree does not exist.
        DemonstrationsError: No trajectory reaches a flag when it is played again.
        LostProcessError: A worker process ended early.
    """
    recorder = Recorder(settings.game, states_every=settings.states_every)
    try:
        verified = _verified(trees, settings.count, recorder)
        parts = [tuple(each.parts(each.needed(verified))) for each in verified]
        short = minimize(
            itertools.chain(*parts),
            settings.game,
            processes=settings.processes,
            max_trial_steps=settings.max_trial_steps,
            folder=settings.minimized,
            on_done=lambda done, count: progress(f"minimized part {done} of {count}"),
        )
        found: dict[str, tuple[Demonstration, Node]] = {}
        for trajectory, every in zip(verified, parts, strict=True):
            demonstration = _recorded(every, short, recorder)
            if segments(demonstration):
                found.setdefault(demonstration.name, (demonstration, trajectory.nodes[-1]))
        if not found:
            raise library.DemonstrationsError(
                f"no trajectory in {', '.join(map(str, trees))} reaches a flag when it is played "
                "again: search longer, in this game and emulator"
            )
        whole = [demonstration for demonstration, _ in found.values()]
        written: list[Demonstration] = []
        for demonstration, end in found.values():
            subtasks = segments(demonstration, whole)
            noised = _noised(demonstration, subtasks, recorder, settings)
            progress(
                f"a trajectory of {_minutes(int(demonstration.frames.sum()))} minutes to level "
                f"{level_of(end.marks):g} ({_minutes(end.frames)} minutes before minimization), "
                f"{demonstration.length} decisions, {len(subtasks)} subtasks, {len(noised)} of "
                f"{settings.noised * len(subtasks)} noisy replays succeeded"
            )
            written += [demonstration, *noised]
        library.write(directory, written, library.identity_of(settings.game))
    finally:
        recorder.close()


def _verified(trees: Sequence[Path], count: int, player: Player) -> list[VerifiedTrajectory]:
    """Return the reproducible trajectories of the highest levels."""
    found: list[VerifiedTrajectory | None] = []
    for path in trees:
        with read_tree(path) as tree:
            for nodes in best_trajectories(tree, count):
                sha256, packed = tree.packed(nodes[0].id)
                found.append(verify(nodes, PackedKeyframe(packed, sha256), player))
    verified = [each for each in found if each is not None]
    return sorted(verified, key=lambda trajectory: -level_of(trajectory.nodes[-1].marks))


def _recorded(parts: Sequence[Part], short: dict[str, Plays], recorder: Recorder) -> Demonstration:
    buttons = ""
    recorder.clear()
    for part in parts:
        recorder.begin(unpack_keyframe(*part.state))
        for play in short[part.key]:
            recorder.replay(play)
            buttons += play.buttons
        assert part.goal.is_reached(recorder.ram, recorder.seen), "a minimized part is verified"
    return recorder.demonstration(hashlib.sha256(buttons.encode()).hexdigest()[:8])


def _minutes(frames: int) -> str:
    return f"{frames / _FRAMES_PER_MINUTE:.1f}"


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
    recorder.clear()
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
