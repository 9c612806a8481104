"""Checks that only play: another process, saving, loading, drawing and counting change nothing."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.replay_check.differences import first_difference
from rlaif.game.replay_check.findings import CheckResult, Result
from rlaif.game.replay_check.plan import CheckPlan

Make = Callable[[], PyBoyEmulator]

_TRACE_EVERY = 25
_AFTER_LOAD_STEPS = 30
_TICKS = (2, 3, 7, 60, 333)


def trace(rom: bytes, plan: CheckPlan, sound: bool) -> list[str]:
    """Digests of the RAM after boot and after every 25 random steps."""
    emulator = PyBoyEmulator(rom, sound_emulated=sound)
    plan.boot(emulator)
    digests = [emulator.ram_digest()]
    for number, action in enumerate(plan.actions(plan.trace_steps, "trace"), start=1):
        emulator.step(action, plan.frame_skip)
        if number % _TRACE_EVERY == 0:
            digests.append(emulator.ram_digest())
    emulator.close()
    return digests


def same_in_two_processes(rom: bytes, plan: CheckPlan, *, sound: bool) -> CheckResult:
    """The same seed gives the same RAM in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        other = pool.submit(trace, rom, plan, sound)
        here = trace(rom, plan, sound)
        there = other.result()
    same = sum(a == b for a, b in zip(here, there, strict=True))
    return CheckResult(
        "same seed in two processes",
        "ok" if same == len(here) else "failed",
        f"{same} of {len(here)} digests are the same",
    )


def digest_covers(start: bytes, make: Make) -> CheckResult:
    """A changed byte in any memory of the game changes the digest; changed back, it is as before.

    Tried at the first, a middle and the last byte of each bank.
    """
    emulator = make()
    emulator.load_state(start)
    blind: list[str] = []
    places = 0
    for name, (bank, first, last) in emulator.memories.items():
        for where in (first, (first + last) // 2, last):
            places += 1
            if not _is_seen(emulator, bank, where):
                blind.append(f"0x{where:04X} of {name}")
    emulator.close()
    return CheckResult(
        "the digest covers all memory",
        "failed" if blind else "ok",
        f"{places - len(blind)} of {places} changed bytes change it"
        + (f"; not {blind[0]}" if blind else ""),
    )


def _is_seen(emulator: PyBoyEmulator, bank: int | None, where: int) -> bool:
    kept = (
        emulator.read(where, where + 1)
        if bank is None
        else emulator.read_bank(bank, where, where + 1)
    )
    before = emulator.ram_digest()
    emulator.poke(bank, where, kept[0] ^ 0xFF)
    changed = emulator.ram_digest()
    emulator.poke(bank, where, kept[0])
    return changed != before == emulator.ram_digest()


def save_and_load(start: bytes, plan: CheckPlan, make: Make) -> CheckResult:
    """Saving disturbs nothing, and a loaded state plays on as the saved one.

    One emulator plays undisturbed. Another plays the same, saves at random places and loads every
    other state itself. A third loads each state and plays on for 30 steps.
    """
    undisturbed, saving, loading = make(), make(), make()
    steps = plan.save_points * 10
    actions = plan.actions(steps + _AFTER_LOAD_STEPS, "save")
    places = plan.places(plan.save_points, steps, "save places")
    expected = _digests(undisturbed, start, actions, plan)
    saving.load_state(start)
    good, trouble = 0, ""
    for place, action in enumerate(actions[:steps]):
        if place in places:
            state = saving.save_state()
            following = slice(place, place + _AFTER_LOAD_STEPS)
            found = _digests(loading, state, actions[following], plan)
            good += found == expected[following]
            if found != expected[following] and not trouble:
                trouble = f"; the state of step {place} is the first that does not"
            if places.index(place) % 2:
                saving.load_state(state)
        saving.step(action, plan.frame_skip)
    if saving.ram_digest() != expected[steps - 1]:
        trouble += "; the play that saves differs from the one that does not"
    _close(undisturbed, saving, loading)
    detail = f"{good} of {len(places)} states play on the same for {_AFTER_LOAD_STEPS} steps"
    return CheckResult(
        "save and load at random places", "failed" if trouble else "ok", detail + trouble
    )


def frames_at_once(start: bytes, make: Make) -> CheckResult:
    """Many frames at once are the same as one by one."""
    once, singly = make(), make()
    trouble = ""
    for frames in _TICKS:
        once.load_state(start)
        singly.load_state(start)
        once.tick(frames)
        for _ in range(frames):
            singly.tick(1)
        if once.ram_digest() != singly.ram_digest():
            trouble = f"; after {frames} frames {first_difference(once, singly)}"
            break
    _close(once, singly)
    counts = ", ".join(map(str, _TICKS))
    return CheckResult(
        "frames at once or one by one", _result(trouble), f"{counts} frames{trouble}"
    )


def drawn_or_not(start: bytes, plan: CheckPlan, make: Make) -> CheckResult:
    """Drawing every step, every third or none changes no RAM."""
    never, always, sometimes = make(), make(), make()
    for emulator in (never, always, sometimes):
        emulator.load_state(start)
    trouble = ""
    for number, action in enumerate(plan.actions(plan.trace_steps, "draw")):
        never.step(action, plan.frame_skip)
        always.step(action, plan.frame_skip, render=True)
        sometimes.step(action, plan.frame_skip, render=number % 3 == 0)
        if len({e.ram_digest() for e in (never, always, sometimes)}) != 1:
            trouble = f"; at step {number} {first_difference(never, always)}"
            break
    _close(never, always, sometimes)
    return CheckResult(
        "drawn or not",
        _result(trouble),
        f"{plan.trace_steps} steps: always, every third, never{trouble}",
    )


def play_digest(start: bytes, plan: CheckPlan, make: Make) -> str:
    """Digest after the plan's trace steps from a state: the same whenever it is asked."""
    emulator = make()
    found = _digests(emulator, start, plan.actions(plan.trace_steps, "later"), plan)[-1]
    emulator.close()
    return found


def _digests(
    emulator: PyBoyEmulator, state: bytes, actions: Sequence[int], plan: CheckPlan
) -> list[str]:
    emulator.load_state(state)
    found = []
    for action in actions:
        emulator.step(action, plan.frame_skip)
        found.append(emulator.ram_digest())
    return found


def _result(trouble: str) -> Result:
    return "failed" if trouble else "ok"


def _close(*emulators: PyBoyEmulator) -> None:
    for emulator in emulators:
        emulator.close()
