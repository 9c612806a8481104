"""All checks on one ROM, one after the other, with a line of progress for each."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator

from rlaif.contracts.captures import GameIdentity
from rlaif.game.emulator import PyBoyEmulator
from rlaif.game.real_time_clock import has_clock
from rlaif.game.replay_check import play_checks
from rlaif.game.replay_check.findings import Finding, Report
from rlaif.game.replay_check.plan import CheckPlan
from rlaif.game.replay_check.segment_checks import SegmentChecks
from rlaif.game.rom_checks import rom_title

LATER_SECONDS = 2.1
"""On a cartridge with a clock the last check waits until this much time has passed."""

_WITH_SOUND_SHARE = 10
_CGB_FLAG, _MAPPER, _RAM_SIZE = 0x143, 0x147, 0x149
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
    rom: bytes,
    plan: CheckPlan,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Report:
    """Find out whether captures of this game can be trusted; it knows nothing of the game.

    Args:
        rom: The ROM.
        plan: How much to play.
        say: Called with each line of progress.
        sleep: Waits so many seconds; only used for a cartridge with a clock.

    Raises:
        BadRomError: PyBoy refuses the ROM.
    """
    started = time.monotonic()
    game = GameIdentity(title=rom_title(rom), rom_sha256=hashlib.sha256(rom).hexdigest())
    findings = []
    for finding in _all_checks(rom, game, plan, say, sleep):
        seconds = time.monotonic() - started
        say(f"{seconds:4.0f} s  {finding.check}: {finding.result}, {finding.detail}")
        findings.append(finding)
    return Report(
        title=game.title,
        rom_sha256=game.rom_sha256,
        hardware=hardware(rom),
        findings=tuple(findings),
        seconds=round(time.monotonic() - started, 1),
    )


def _all_checks(
    rom: bytes,
    game: GameIdentity,
    plan: CheckPlan,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> Iterator[Finding]:
    def silent() -> PyBoyEmulator:
        return PyBoyEmulator(rom)

    def sounding() -> PyBoyEmulator:
        return PyBoyEmulator(rom, sound_emulated=True)

    live = silent()
    plan.boot(live)
    start, saved_at = live.save_state(), time.monotonic()
    first = play_checks.play_digest(start, plan, silent)
    yield play_checks.same_in_two_processes(rom, plan)
    yield play_checks.save_and_load(start, plan, silent)
    yield play_checks.frames_at_once(start, silent)
    yield play_checks.drawn_or_not(start, plan, silent)
    yield from _segments(live, silent(), game, plan, plan.segments, "segments", say)
    loud = sounding()
    plan.boot(loud)
    few = max(1, plan.segments // _WITH_SOUND_SHARE)
    yield from _segments(loud, sounding(), game, plan, few, "segments with sound", say)
    yield _sound_matters(rom, plan)
    if has_clock(rom):
        sleep(max(0.0, saved_at + LATER_SECONDS - time.monotonic()))
    yield _played_later(
        play_checks.play_digest(start, plan, silent) == first, time.monotonic() - saved_at
    )


def _segments(
    live: PyBoyEmulator,
    second: PyBoyEmulator,
    game: GameIdentity,
    plan: CheckPlan,
    segments: int,
    name: str,
    say: Callable[[str], None],
) -> Iterable[Finding]:
    checks = SegmentChecks(live, second, game)
    checks.run(plan if name == "segments" else plan.without_tampering(), segments, say)
    live.close()
    second.close()
    return checks.findings(name)


def _played_later(same: bool, seconds: float) -> Finding:
    return Finding(
        "a state played later",
        "ok" if same else "failed",
        f"{seconds:.1f} s later the state plays on as before"
        if same
        else f"{seconds:.1f} s later the state plays on otherwise: the host's time is in the game",
    )


def _sound_matters(rom: bytes, plan: CheckPlan) -> Finding:
    differ = play_checks.trace(rom, plan, False) != play_checks.trace(rom, plan, True)
    return Finding(
        "sound setting",
        "note",
        "RAM depends on it: capture and replay with the same setting (a replay checks it)"
        if differ
        else "RAM is the same with sound emulated or not",
    )


def hardware(rom: bytes) -> str:
    """What the header says of the cartridge, in a few words."""
    words = ["colour" if rom[_CGB_FLAG] & 0x80 else "grey"]
    words.append(_MAPPERS.get(rom[_MAPPER], f"mapper 0x{rom[_MAPPER]:02X}"))
    if rom[_RAM_SIZE]:
        words.append(f"RAM size code {rom[_RAM_SIZE]}")
    if has_clock(rom):
        words.append("with a clock")
    return ", ".join(words)
