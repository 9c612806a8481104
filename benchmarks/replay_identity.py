"""Does a replay lead to the same RAM? Plays at random, captures, replays with rendering, compares.

    python benchmarks/replay_identity.py --segments 1000

Prints one line for each hundred segments, then raw figures and the machine, then one line of JSON.
Exit code 0 when every segment is identical and every tampered one was detected, else 1.
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from statistics import median

from rlaif.contracts.captures import Capture
from rlaif.game.captures.replay import ReplayMismatchError
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.replay_check.selfcheck import (
    Play,
    RecordedSegment,
    boot,
    check_replay,
    random_segments,
)


def main() -> int:
    options = parse_options()
    cartridge = load_cartridge(options.rom)
    live = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    second = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    boot(live)
    play = Play(segments=options.segments, steps=options.steps, seed=options.seed)
    identical = same_observations = undetected = 0
    replay_seconds: list[float] = []
    digests: set[str] = set()
    started = time.perf_counter()
    for number, recorded in enumerate(random_segments(live, cartridge, play), start=1):
        before = time.perf_counter()
        try:
            same_observations += check_replay(second, recorded, cartridge.sha256)
            identical += 1
        except ReplayMismatchError as error:
            print(f"MISMATCH {error}")
        replay_seconds.append(time.perf_counter() - before)
        digests.add(recorded.capture.end_ram_sha256)
        if number % options.tamper_every == 0:
            undetected += not tampering_is_detected(second, recorded, cartridge.sha256)
        if number % 100 == 0:
            print(
                f"{number} segments, {identical} identical, {time.perf_counter() - started:.0f} s"
            )
    result = {
        "benchmark": "replay_identity",
        "rom_sha256": cartridge.sha256,
        "title": cartridge.title,
        "emulator": live.identity.model_dump(),
        "segments": options.segments,
        "steps_per_segment": options.steps,
        "seed": options.seed,
        "identical_ram": identical,
        "identical_observations": same_observations,
        "distinct_end_states": len(digests),
        "tampered": options.segments // options.tamper_every,
        "tampered_undetected": undetected,
        "replay_seconds_median": round(median(replay_seconds), 4),
        "wall_seconds": round(time.perf_counter() - started, 1),
    }
    print(
        f"machine: {platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    )
    for name, value in result.items():
        print(f"{name}: {value}")
    print(json.dumps(result))
    proved = identical == same_observations == options.segments and not undetected
    return 0 if proved else 1


def tampering_is_detected(
    emulator: PyBoyEmulator, recorded: RecordedSegment, rom_sha256: str
) -> bool:
    """Whether one changed action, of those that change the play at all, leads to other RAM.

    A single changed action may change nothing, such as a button during a fade. So every action is
    replaced, one after the other, until the play differs; a capture in which none does is not
    counted as detected.
    """
    for place in range(len(recorded.capture.actions) - 1, -1, -1):
        tampered = RecordedSegment(
            change_action(recorded.capture, place), recorded.keyframe, recorded.observations
        )
        try:
            check_replay(emulator, tampered, rom_sha256)
        except ReplayMismatchError:
            return True
    return False


def change_action(capture: Capture, place: int) -> Capture:
    changed = str((int(capture.actions[place]) + 1) % 8)
    actions = capture.actions[:place] + changed + capture.actions[place + 1 :]
    return capture.model_copy(update={"actions": actions})


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=1000, help="segments to capture (1000)")
    parser.add_argument("--steps", type=int, default=75, help="decision steps a segment (75)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random play (0)")
    parser.add_argument("--rom", type=Path, help="ROM to play; the embedded game when left out")
    parser.add_argument(
        "--tamper-every", type=int, default=50, help="tamper with every n-th segment (50)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
