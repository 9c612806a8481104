"""Checks that captures of a game replay to the same RAM."""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from rlaif.files.failures import command
from rlaif.game.captures.capture import KeyframeError
from rlaif.game.captures.replay import ReplayError, replay
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import Emulator, EmulatorError, new_emulator
from rlaif.game.machine.real_time_clock import has_clock
from rlaif.game.replay_check.segments import Play, RecordedSegment, captured_segments

LATER_SECONDS = 2.1
"""On a cartridge with a clock the last check waits until this much time has passed."""

_LONGEST_HOLD = 12
_BOOT_PRESS_FRAMES = 8
_MAY_BE_ZERO = frozenset({"boot_frames", "boot_presses", "seed"})
_TRACE_EVERY = 25
_AFTER_LOAD_STEPS = 30
_REPORTS = 5
"""Progress lines while segments are replayed."""

Result = Literal["ok", "failed", "note"]
"""A note is not a failure."""

Say = Callable[[str], None]


class WrongPlanError(ValueError):
    """The plan proves nothing; the message names the invalid option."""


def _option(default: int, meaning: str) -> Any:
    return field(default=default, metadata={"help": f"{meaning} (default: {default})"})


@dataclass(frozen=True)
class CheckPlan:
    """How much to play; each field is an option of the command."""

    segments: int = _option(200, "segments to capture and replay")
    steps: int = _option(75, "emulator steps per segment")
    frame_skip: int = _option(4, "frames per emulator step")
    boot_frames: int = _option(240, "frames without a button after power-on")
    boot_presses: int = _option(120, "random presses after that, to get past title screens")
    trace_steps: int = _option(300, "steps compared between processes")
    save_points: int = _option(40, "states to save and load in the middle of play")
    tampered: int = _option(20, "segments in which to change actions")
    seed: int = _option(0, "seed of the random actions")

    def check(self) -> None:
        """Raise WrongPlanError unless every check has something to compare."""
        for name, number in vars(self).items():
            least = 0 if name in _MAY_BE_ZERO else 1
            if number < least:
                raise WrongPlanError(
                    f"--{name.replace('_', '-')} {number} leaves nothing to prove: "
                    f"give {least} or more"
                )

    def actions(self, number: int, purpose: str) -> list[Action]:
        """`number` random actions, each held for 1 to 12 steps; equal in every process."""
        rng = random.Random(f"{self.seed} {purpose}")
        found: list[Action] = []
        while len(found) < number:
            found += [rng.choice(tuple(Action))] * rng.randint(1, _LONGEST_HOLD)
        return found[:number]

    def boot(self, emulator: Emulator) -> None:
        """Play from power-on into the game: frames, then random presses alternating with START."""
        emulator.tick(self.boot_frames)
        for number, action in enumerate(self.actions(self.boot_presses, "boot")):
            emulator.step(Action.START if number % 2 else action, _BOOT_PRESS_FRAMES)


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check."""

    check: str
    result: Result
    detail: str


@dataclass(frozen=True)
class Report:
    """All outcomes for one ROM, in order."""

    title: str  # in the ROM's header
    rom_sha256: str
    findings: tuple[CheckResult, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return all(finding.result != "failed" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"passed": self.passed}

    def table(self) -> str:
        lines = [f"{self.title or 'no title'} ({self.rom_sha256[:12]})"]
        lines += [f"  {f.check:<32}  {f.result:<6}  {f.detail}" for f in self.findings]
        failed = sum(finding.result == "failed" for finding in self.findings)
        verdict = "replays are proved" if self.passed else f"{failed} of the checks failed"
        return "\n".join([*lines, f"  {verdict}, {self.seconds:.0f} s"])


def check_rom_replays(
    cartridge: Cartridge, plan: CheckPlan, say: Say, sleep: Callable[[float], None] = time.sleep
) -> Report:
    """Run all checks with the sound setting of training; `say` receives lines of progress.

    Raises:
        BadRomError: PyBoy rejects the ROM.
    """
    started = time.monotonic()
    checks, findings = _Checks(cartridge, plan, say, sleep), []
    try:
        for finding in checks.run():
            seconds = time.monotonic() - started
            say(f"{seconds:4.0f} s  {finding.check}: {finding.result}, {finding.detail}")
            findings.append(finding)
    finally:
        checks.close()
    game = cartridge.identity
    seconds = round(time.monotonic() - started, 1)
    return Report(game.title, game.rom_sha256, tuple(findings), seconds)


def trace(rom: bytes, plan: CheckPlan, sound: bool) -> list[str]:
    """Digests of the RAM after boot and after every 25 random steps."""
    emulator = new_emulator(rom, sound_emulated=sound)
    plan.boot(emulator)
    digests = [emulator.ram_digest()]
    for number, action in enumerate(plan.actions(plan.trace_steps, "trace"), start=1):
        emulator.step(action, plan.frame_skip)
        if number % _TRACE_EVERY == 0:
            digests.append(emulator.ram_digest())
    emulator.close()
    return digests


class _Checks:
    """The checks of one cartridge."""

    def __init__(
        self, cartridge: Cartridge, plan: CheckPlan, say: Say, sleep: Callable[[float], None]
    ) -> None:
        self._rom, self._game = cartridge.data, cartridge.identity
        self._sound = cartridge.needs_sound
        self._plan, self._say, self._sleep = plan, say, sleep
        self._start = b""
        self._emulators: list[Emulator] = []

    def run(self) -> Iterator[CheckResult]:
        live = self._made()
        self._plan.boot(live)
        self._start, saved_at = live.save_state(), time.monotonic()
        first = self._play_digest()
        yield self._same_in_two_processes()
        yield self._save_and_load()
        yield from self._segments(live)
        if has_clock(self._rom):
            self._sleep(max(0.0, saved_at + LATER_SECONDS - time.monotonic()))
        same, seconds = self._play_digest() == first, time.monotonic() - saved_at
        detail = f"{seconds:.1f} s later the state plays on " + ("as before" if same else "")
        failure = "" if same else "differently: the game depends on the host's time"
        yield _result("a state played later", detail, failure)

    def close(self) -> None:
        for emulator in self._emulators:
            emulator.close()

    def _made(self) -> Emulator:
        self._emulators.append(new_emulator(self._rom, sound_emulated=self._sound))
        return self._emulators[-1]

    def _started(self) -> Emulator:
        emulator = self._made()
        emulator.load_state(self._start)
        return emulator

    def _digests(self, emulator: Emulator, actions: Sequence[int]) -> list[str]:
        found = []
        for action in actions:
            emulator.step(action, self._plan.frame_skip)
            found.append(emulator.ram_digest())
        return found

    def _play_digest(self) -> str:
        actions = self._plan.actions(self._plan.trace_steps, "later")
        return self._digests(self._started(), actions)[-1]

    def _same_in_two_processes(self) -> CheckResult:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            other = pool.submit(trace, self._rom, self._plan, self._sound)
            here, there = trace(self._rom, self._plan, self._sound), other.result()
        same = sum(a == b for a, b in zip(here, there, strict=True))
        failure = "" if same == len(here) else "; the others differ"
        detail = f"{same} of {len(here)} digests are the same"
        return _result("same seed in two processes", detail, failure)

    def _save_and_load(self) -> CheckResult:
        """Check that saving has no effect, and that a loaded state continues like the saved one.

        One emulator plays undisturbed. Another plays the same, saves at random steps and loads
        every other state itself. A third loads each state and plays 30 more steps.
        """
        saving, loading = self._started(), self._made()
        steps = self._plan.save_points * 10
        actions = self._plan.actions(steps + _AFTER_LOAD_STEPS, "save")
        rng = random.Random(f"{self._plan.seed} save places")
        places = sorted(rng.sample(range(steps), self._plan.save_points))
        expected = self._digests(self._started(), actions)
        good, failure = 0, ""
        for place, action in enumerate(actions[:steps]):
            if place in places:
                state = saving.save_state()
                following = slice(place, place + _AFTER_LOAD_STEPS)
                loading.load_state(state)
                same = self._digests(loading, actions[following]) == expected[following]
                good += same
                if not same and not failure:
                    failure = f"; the state of step {place} is the first that does not"
                if places.index(place) % 2:
                    saving.load_state(state)
            saving.step(action, self._plan.frame_skip)
        if saving.ram_digest() != expected[steps - 1]:
            failure += "; saving changes the play"
        detail = f"{good} of {len(places)} states continue the same for {_AFTER_LOAD_STEPS} steps"
        return _result("save and load at random places", detail, failure)

    def _segments(self, live: Emulator) -> Iterator[CheckResult]:
        plan, second = self._plan, self._made()
        play = Play(plan.segments, plan.steps, plan.frame_skip, seed=plan.seed)
        every = max(1, plan.segments // plan.tampered)
        ends, failure = set(), ""
        captured = same = moved = changed = tampered = 0
        for captured, recorded in enumerate(captured_segments(live, self._game, play), start=1):
            error = _replay_error(second, recorded, self._game.rom_sha256)
            same += not error
            failure = failure or error
            ends.add(recorded.capture.end_ram_sha256)
            moved += recorded.capture.start_ram_sha256 != recorded.capture.end_ram_sha256
            if not error and captured % every == 0:
                tampered += 1
                changed += _an_action_matters(second, recorded, self._game.rom_sha256)
            if captured % max(1, plan.segments // _REPORTS) == 0:
                self._say(f"{captured} of {plan.segments} segments, {same} the same")
        detail = f"{same} of {captured} segments replay to the same RAM"
        yield _result("segments", detail, failure and f"; {failure}")
        if tampered:
            detail = f"in {changed} of {tampered} segments one changed action leads to other RAM"
            reacts = "" if changed else ": this game reacted to no button"
            noticed: Result = "ok" if changed else "note"
            yield CheckResult("changed actions are noticed", noticed, detail + reacts)
        if not moved:
            detail = (
                f"nothing is proved: in none of {captured} segments did the game's RAM change; "
                "play it past its title (--boot-frames, --boot-presses), or give another ROM"
            )
            yield CheckResult("segments: liveliness", "failed", detail)
        elif len(ends) < captured:
            detail = f"{len(ends)} different ends of {captured} segments: equal digests prove less"
            yield CheckResult("segments: liveliness", "note", detail)


def _replay_error(emulator: Emulator, recorded: RecordedSegment, rom_sha256: str) -> str:
    """Replay a segment with every step drawn; "" if the RAM is the same, else the error."""
    capture, packed = recorded.capture, recorded.keyframe.data
    drawn = frozenset(range(len(capture.actions)))
    try:
        for _ in replay(emulator, capture, packed, rom_sha256=rom_sha256, render_steps=drawn):
            pass
    except (ReplayError, KeyframeError) as error:
        return str(error)
    return ""


def _an_action_matters(emulator: Emulator, recorded: RecordedSegment, rom: str) -> bool:
    """Whether changing the action of some step leads to other RAM; tries the last steps first.

    A single action may change nothing, such as a button during a fade.
    """
    actions = recorded.capture.actions
    for place in range(len(actions) - 1, -1, -1):
        other = str((int(actions[place]) + 1) % len(Action))
        changed = actions[:place] + other + actions[place + 1 :]
        capture = recorded.capture.model_copy(update={"actions": changed})
        if _replay_error(emulator, replace(recorded, capture=capture), rom):
            return True
    return False


def _result(check: str, detail: str, failure: str) -> CheckResult:
    return CheckResult(check, "failed" if failure else "ok", detail + failure)


@command("rlaif replay-check", CartridgeError, EmulatorError, WrongPlanError)
def main(argv: Sequence[str] | None = None) -> int:
    """Run the checks; print progress, a table and one line of JSON.

    Returns:
        0 if all replays are proved, 1 if a check failed or nothing was proved, 2 if the ROM or the
        plan cannot be used, with the reason in one line on standard error.
    """
    parser = argparse.ArgumentParser(
        prog="rlaif replay-check",
        description="Test on any Game Boy ROM that a replay leads to the same RAM.",
    )
    parser.add_argument("rom", type=Path, nargs="?", help="ROM (default: the embedded game)")
    parser.add_argument(
        "--allow-modified",
        action="store_true",
        help="accept a randomizer or a hack of Oracle of Seasons",
    )
    for each in fields(CheckPlan):
        name = f"--{each.name.replace('_', '-')}"
        parser.add_argument(name, type=int, default=each.default, help=each.metadata["help"])
    options = parser.parse_args(argv)
    plan = CheckPlan(**{each.name: getattr(options, each.name) for each in fields(CheckPlan)})
    plan.check()
    cartridge = load_cartridge(options.rom, allow_modified=options.allow_modified)
    report = check_rom_replays(cartridge, plan, _say)
    _say(f"\n{report.table()}")
    _say(json.dumps({"check": "replay", **report.as_dict(), "plan": vars(plan)}))
    return 0 if report.passed else 1


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
