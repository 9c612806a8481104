"""Demonstrations out of a search: its farthest ways, checked, shortened and recorded."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.game.decisions.catalog import COUNT, DECISIONS, Arm
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.motion.things import KINDS
from rlaif.game.policy_input.layout import INPUT_VERSION, POLICY_INPUT, SIZE
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    DemonstrationIdentity,
    segments,
)
from rlaif.trainer.curriculum.lineages import Part, Way, farthest_ways
from rlaif.trainer.curriculum.looking_over import Walked, look_over
from rlaif.trainer.curriculum.noise import with_noise
from rlaif.trainer.curriculum.playing import Player
from rlaif.trainer.curriculum.recording import Recorder, RecordSettings
from rlaif.trainer.curriculum.replaying import WayMismatchError, replay
from rlaif.trainer.curriculum.shortening import whole_parts
from rlaif.trainer.curriculum.shortening_apart import shorten
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.tree import read_tree

_STEPS_A_MINUTE = 15 * 60
"""Base steps of four frames, sixty frames a second."""


@dataclass(frozen=True)
class BuildSettings:
    """What demonstrations are made.

    Attributes:
        recording: How plays are recorded.
        count: Ways out of each tree.
        noised: Times that each segment is played again with noise.
        seed: Of the noise.
        processes: That shorten ways; 0: this one does.
    """

    recording: RecordSettings
    count: int = 6
    noised: int = 2
    seed: int = 0
    processes: int = 0


@dataclass(frozen=True)
class Built:
    """What became of one way.

    Attributes:
        name: Of the demonstration.
        level: How far it came, as the search counts.
        segments: Its parts between lasting marks.
        decisions: In all of it.
        seconds: In the game.
        cut_seconds: Of loops that were cut out.
        noised: Parts with noise that arrived, of `tried`.
        tried: Parts with noise that were tried.
    """

    name: str
    level: float
    segments: int
    decisions: int
    seconds: float
    cut_seconds: float
    noised: int = 0
    tried: int = 0


def identity_of(
    cartridge: Cartridge, emulator: PyBoyEmulator, actions: Arm
) -> DemonstrationIdentity:
    """What demonstrations of this game and these decisions depend on."""
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
    tell: Callable[[Built], None] = lambda built: None,
    progress: Callable[[str], None] = lambda words: None,
) -> tuple[Built, ...]:
    """Write the demonstrations of some trees into a folder, farthest first; gives what they are.

    Ways without a segment are left out, and those that do not lead where their tree says. Each that
    is done is told; `progress` says in words what was done on the way there, which takes minutes.

    Raises:
        TreeError: There is no such tree.
        WayMismatchError: No way leads where its tree says.
        DemonstrationsError: No way has a lasting mark.
        LostProcessError: A process that shortens ways ended early.
    """
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        recorder = Recorder(emulator, identity_of(cartridge, emulator, actions), settings.recording)
        ways = [way for path in trees for way in _ways(path, settings.count)]
        ways.sort(key=lambda way: -level_of(way.marks))
        walked = _those_that_hold(ways, Player(emulator))
        parts = [whole_parts(way, way.needed(walked)) for way in walked]

        def note(done: int, count: int) -> None:
            progress(f"part {done} of {count} shortened, of {len(walked)} ways")

        short = shorten(
            [each for of_way in parts for each in of_way],
            cartridge.data,
            sound=cartridge.needs_sound,
            processes=settings.processes,
            tell=note,
        )
        recorded = [
            _recorded(way, [short[each.key] for each in of_way], recorder)
            for way, of_way in zip(walked, parts, strict=True)
            if of_way
        ]
        plays = _once([each for each in recorded if _parts(each[0], [each[0]])])
        if not plays:
            raise library.DemonstrationsError(
                f"no way in {', '.join(map(str, trees))} reaches a lasting mark: search on"
            )
        demonstrations = [play for play, _ in plays]
        written: list[Demonstration] = []
        told: list[Built] = []
        for play, built in plays:
            noised, tried = _noised(play, demonstrations, recorder, settings)
            count = len(_parts(play, demonstrations))
            told.append(replace(built, segments=count, noised=len(noised), tried=tried))
            tell(told[-1])
            written += [play, *noised]
        library.write(directory, written)
    finally:
        emulator.close()
    return tuple(told)


def _layout() -> str:
    """Changes with the meaning of any number or decision."""
    meaning = (
        INPUT_VERSION,
        [(field.name, field.slots, field.codes) for field in POLICY_INPUT.fields],
        KINDS,
        [decision.name for decision in DECISIONS],
    )
    return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]


def _ways(path: Path, count: int) -> tuple[Way, ...]:
    with read_tree(path) as tree:
        return farthest_ways(tree, count)


def _those_that_hold(ways: Sequence[Way], player: Player) -> list[Walked]:
    """The ways that lead where they say; raises as the first one does when none does."""
    found: list[Walked] = []
    why: WayMismatchError | None = None
    for way in ways:
        try:
            found.append(look_over(way, player))
        except WayMismatchError as error:
            why = why or error
    if why is not None and not found:
        raise why
    return found


def _recorded(
    walked: Walked, parts: Sequence[Part], recorder: Recorder
) -> tuple[Demonstration, Built]:
    replay(parts, recorder)
    pressed = "".join(stretch.actions for part in parts for stretch in part.stretches)
    name = hashlib.sha256(pressed.encode()).hexdigest()[:8]
    play = recorder.demonstration(name)
    left = _minutes(parts) * 60
    built = Built(
        name=name,
        level=level_of(walked.way.marks),
        segments=0,
        decisions=play.length,
        seconds=left,
        cut_seconds=walked.way.steps / _STEPS_A_MINUTE * 60 - left,
    )
    return play, built


def _minutes(parts: Sequence[Part]) -> float:
    return sum(part.steps for part in parts) / _STEPS_A_MINUTE


def _once(plays: Sequence[tuple[Demonstration, Built]]) -> list[tuple[Demonstration, Built]]:
    """Without those that are another one to the button, from another tree or after cuts."""
    return list({play.name: (play, built) for play, built in plays}.values())


def _parts(play: Demonstration, every: Sequence[Demonstration]) -> tuple[object, ...]:
    return segments(play, play.needed(every))


def _noised(
    play: Demonstration,
    every: Sequence[Demonstration],
    recorder: Recorder,
    settings: BuildSettings,
) -> tuple[list[Demonstration], int]:
    """Its parts with noise that arrived, and how many were tried."""
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
