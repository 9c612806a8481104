"""All checks on one ROM, one after the other, with a line of progress for each."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from rlaif.contracts.captures import GameIdentity
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.machine.real_time_clock import has_clock
from rlaif.game.machine.rom_checks import CARTRIDGE_TYPE, COLOUR_FLAG, RAM_SIZE_CODE
from rlaif.game.replay_check import play_checks
from rlaif.game.replay_check.findings import CheckResult, Report
from rlaif.game.replay_check.plan import CheckPlan
from rlaif.game.replay_check.segment_checks import SegmentChecks

LATER_SECONDS = 2.1
"""On a cartridge with a clock the last check waits until this much time has passed."""

_OTHER_SETTING_SHARE = 10
_MAPPERS = {0x00: "no mapper", 0x08: "no mapper"} | {
    code: name
    for name, codes in {
        "MBC1": (0x01, 0x02, 0x03),
        "MBC2": (0x05, 0x06),
        "MBC3": (0x0F, 0x10, 0x11, 0x12, 0x13),
        "MBC5": (0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E),
    }.items()
    for code in codes
}


def check_rom_replays(
    cartridge: Cartridge,
    plan: CheckPlan,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Report:
    """Find out whether captures of this game can be trusted; it knows nothing of the game.

    It is played with the sound setting that training uses. `say` gets each line of progress.

    Raises:
        BadRomError: PyBoy refuses the ROM.
    """
    started = time.monotonic()
    game = cartridge.identity
    findings = []
    for finding in _all_checks(cartridge, plan, say, sleep):
        seconds = time.monotonic() - started
        say(f"{seconds:4.0f} s  {finding.check}: {finding.result}, {finding.detail}")
        findings.append(finding)
    return Report(
        title=game.title,
        rom_sha256=game.rom_sha256,
        hardware=hardware(cartridge.data),
        findings=tuple(findings),
        seconds=round(time.monotonic() - started, 1),
    )


def _all_checks(
    cartridge: Cartridge,
    plan: CheckPlan,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> Iterator[CheckResult]:
    rom, game, sound = cartridge.data, cartridge.identity, cartridge.needs_sound

    def as_trained() -> PyBoyEmulator:
        return PyBoyEmulator(rom, sound_emulated=sound)

    def otherwise() -> PyBoyEmulator:
        return PyBoyEmulator(rom, sound_emulated=not sound)

    live = as_trained()
    plan.boot(live)
    start, saved_at = live.save_state(), time.monotonic()
    first = play_checks.play_digest(start, plan, as_trained)
    yield play_checks.digest_covers(start, as_trained)
    yield play_checks.same_in_two_processes(rom, plan, sound=sound)
    yield play_checks.save_and_load(start, plan, as_trained)
    yield play_checks.frames_at_once(start, as_trained)
    yield play_checks.drawn_or_not(start, plan, as_trained)
    yield from _segments(live, as_trained(), game, plan, plan.segments, "segments", say)
    other = otherwise()
    plan.boot(other)
    few = max(1, plan.segments // _OTHER_SETTING_SHARE)
    name = f"segments {'without' if sound else 'with'} sound"
    yield from _segments(other, otherwise(), game, plan, few, name, say)
    yield _sound_matters(rom, plan)
    if has_clock(rom):
        sleep(max(0.0, saved_at + LATER_SECONDS - time.monotonic()))
    yield _played_later(
        play_checks.play_digest(start, plan, as_trained) == first, time.monotonic() - saved_at
    )


def _segments(
    live: PyBoyEmulator,
    second: PyBoyEmulator,
    game: GameIdentity,
    plan: CheckPlan,
    segments: int,
    name: str,
    say: Callable[[str], None],
) -> Iterable[CheckResult]:
    checks = SegmentChecks(live, second, game)
    checks.run(plan if name == "segments" else replace(plan, tampered=0), segments, say)
    live.close()
    second.close()
    return checks.findings(name, as_trained=name == "segments")


def _played_later(same: bool, seconds: float) -> CheckResult:
    return CheckResult(
        "a state played later",
        "ok" if same else "failed",
        f"{seconds:.1f} s later the state plays on as before"
        if same
        else f"{seconds:.1f} s later the state plays on otherwise: the host's time is in the game",
    )


def _sound_matters(rom: bytes, plan: CheckPlan) -> CheckResult:
    differ = play_checks.trace(rom, plan, False) != play_checks.trace(rom, plan, True)
    return CheckResult(
        "sound setting",
        "note",
        "RAM depends on it: capture and replay with the same setting (a replay checks it)"
        if differ
        else "RAM is the same with sound emulated or not",
    )


def hardware(rom: bytes) -> str:
    """What the header says of the cartridge, in a few words."""
    words = ["colour" if rom[COLOUR_FLAG] & 0x80 else "grey"]
    words.append(_MAPPERS.get(rom[CARTRIDGE_TYPE], f"mapper 0x{rom[CARTRIDGE_TYPE]:02X}"))
    if rom[RAM_SIZE_CODE]:
        words.append(f"RAM size code {rom[RAM_SIZE_CODE]}")
    if has_clock(rom):
        words.append("with a clock")
    return ", ".join(words)
