"""Checks on captured segments: they replay to the same RAM, and tampering is noticed."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from rlaif.contracts.captures import GameIdentity
from rlaif.game.captures.capture import KeyframeError, pack_keyframe, unpack_keyframe
from rlaif.game.captures.replay import ReplayError, replay
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.replay_check.findings import CheckResult
from rlaif.game.replay_check.plan import CheckPlan
from rlaif.game.replay_check.segments import Play, RecordedSegment, captured_segments

_FORGED = "0" * 64
_ACTIONS = 8
_REPORTS = 5
"""So many times the number of replayed segments is told while they are played."""


def replayed(emulator: PyBoyEmulator, recorded: RecordedSegment, rom_sha256: str) -> str:
    """Replay a segment, every step drawn; "" when the RAM is the same, else what went wrong."""
    drawn = frozenset(range(len(recorded.capture.actions)))
    packed = recorded.keyframe.data
    try:
        for _ in replay(
            emulator, recorded.capture, packed, rom_sha256=rom_sha256, render_steps=drawn
        ):
            pass
    except (ReplayError, KeyframeError) as error:
        return str(error)
    return ""


class SegmentChecks:
    """Captures segments in one emulator, replays them in a second, and tampers with some."""

    def __init__(self, live: PyBoyEmulator, second: PyBoyEmulator, game: GameIdentity) -> None:
        self._live, self._second, self._game = live, second, game
        self._ends: set[str] = set()
        self._moved = 0
        self._first_trouble = ""
        self._same = self._captured = 0
        self._tampering = Tampering(second, game.rom_sha256)

    def run(self, plan: CheckPlan, segments: int, say: Callable[[str], None]) -> None:
        """Capture and replay so many segments; tamper with the plan's share of them."""
        play = Play(segments, plan.steps, plan.frame_skip, seed=plan.seed)
        every = max(1, segments // max(1, plan.tampered))
        for recorded in captured_segments(self._live, self._game, play):
            self._captured += 1
            trouble = replayed(self._second, recorded, self._game.rom_sha256)
            self._same += not trouble
            self._first_trouble = self._first_trouble or trouble
            self._ends.add(recorded.capture.end_ram_sha256)
            capture = recorded.capture
            self._moved += capture.start_ram_sha256 != capture.end_ram_sha256
            if plan.tampered and not trouble and self._captured % every == 0:
                self._tampering.try_on(recorded)
            if self._captured % max(1, segments // _REPORTS) == 0:
                say(f"{self._captured} of {segments} segments, {self._same} the same")

    def findings(self, name: str, *, as_trained: bool = True) -> Iterable[CheckResult]:
        """What came out of it; a game may stand still with a setting that is not trained with."""
        yield CheckResult(
            name,
            "failed" if self._first_trouble else "ok",
            f"{self._same} of {self._captured} segments replay to the same RAM"
            + (f"; {self._first_trouble}" if self._first_trouble else ""),
        )
        yield from self._tampering.findings()
        if not self._moved:
            yield CheckResult(
                f"{name}: liveliness",
                "failed" if as_trained else "note",
                f"nothing is proved: in none of {self._captured} segments did the game's RAM "
                "change; play it past its title (--boot-frames, --boot-presses), or give "
                "another ROM",
            )
        elif len(self._ends) < self._captured:
            yield CheckResult(
                f"{name}: liveliness",
                "note",
                f"{len(self._ends)} different ends of {self._captured} segments: "
                "where a game stands still, equal digests prove less",
            )


class Tampering:
    """Tampers with segments and counts what was noticed."""

    def __init__(self, emulator: PyBoyEmulator, rom_sha256: str) -> None:
        self._emulator, self._rom = emulator, rom_sha256
        self._segments = self._changed = self._forged = 0
        self._unnoticed: list[str] = []

    def try_on(self, recorded: RecordedSegment) -> None:
        """Change an action, forge what the capture says, and damage its keyframe."""
        self._segments += 1
        self._changed += self._an_action_matters(recorded)
        capture, keyframe = recorded.capture, recorded.keyframe
        # Of the packed bytes one may not matter; of the state every one is in its digest.
        state = bytearray(unpack_keyframe(keyframe.data, keyframe.sha256))
        state[len(state) // 2] ^= 0xFF
        damaged = pack_keyframe(bytes(state)).data
        sound = not capture.emulator.sound_emulated
        forgeries: dict[str, dict[str, Any]] = {
            "the digest at the start": {"start_ram_sha256": _FORGED},
            "the digest at the end": {"end_ram_sha256": _FORGED},
            "the digest of the keyframe": {"keyframe_sha256": _FORGED},
            "the game": {"game": capture.game.model_copy(update={"rom_sha256": _FORGED})},
            "the sound setting": {
                "emulator": capture.emulator.model_copy(update={"sound_emulated": sound})
            },
        }
        for what, update in forgeries.items():
            self._forge(what, replace(recorded, capture=capture.model_copy(update=update)))
        self._forge(
            "a byte of the keyframe",
            replace(recorded, keyframe=keyframe._replace(data=damaged)),
        )

    def findings(self) -> Iterable[CheckResult]:
        """What was noticed; nothing when nothing was tampered with."""
        if not self._segments:
            return
        yield CheckResult(
            "changed actions are noticed",
            "ok" if self._changed else "note",
            f"in {self._changed} of {self._segments} segments one changed action leads to other "
            "RAM" + ("" if self._changed else ": this game reacted to no button"),
        )
        yield CheckResult(
            "forged captures are refused",
            "failed" if self._unnoticed else "ok",
            f"{self._forged - len(self._unnoticed)} of {self._forged} forgeries were refused"
            + (f"; not {self._unnoticed[0]}" if self._unnoticed else ""),
        )

    def _an_action_matters(self, recorded: RecordedSegment) -> bool:
        """Whether another action at some place is noticed, the last places first.

        One action may change nothing, such as a button during a fade: so each is tried in turn.
        """
        actions = recorded.capture.actions
        for place in range(len(actions) - 1, -1, -1):
            other = str((int(actions[place]) + 1) % _ACTIONS)
            changed = actions[:place] + other + actions[place + 1 :]
            capture = recorded.capture.model_copy(update={"actions": changed})
            if replayed(self._emulator, replace(recorded, capture=capture), self._rom):
                return True
        return False

    def _forge(self, what: str, forged: RecordedSegment) -> None:
        self._forged += 1
        if not replayed(self._emulator, forged, self._rom):
            self._unnoticed.append(what)
