"""Determinism: one seed, the same actions, three processes.

    python benchmarks/determinism.py --steps 50000

Two processes play alike. The third draws every step, and now and then saves its state, plays on for
a while with other buttons, and loads the state again; on each of these detours it also plays n
frames in one tick and again one by one, which must give the same RAM. All must have the same RAM at
every mark.
Prints each mark, then one line of JSON. Exit code 0 when all marks are the same.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from outcome import finish, parser_of, say

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.zelda_env import ZeldaOracleEnv
from rlaif.trainer.settings.game import CaptureSettings, GameSettings

KINDS = ("plain", "again", "disturbed")
MARKS = 10
HOLD_STEPS = 6
"""Steps for which an action is kept: with a change at each step the player stays in place."""

DETOUR_CHANCE, DETOUR_STEPS, DETOUR_FRAMES = 1 / 400, 20, 40


def main() -> int:
    options = parse_options()
    if options.worker:
        for mark in play(options):
            say(json.dumps(mark))
        return 0
    marks = {kind: run(kind, options) for kind in KINDS}
    cartridge = load_cartridge(options.rom)
    same = all(found == marks["plain"] for found in marks.values())
    for at in marks["plain"]:
        row = " ".join(f"{kind} {found.get(at, 'missing')[:16]}" for kind, found in marks.items())
        print(f"step {at}: {row}")
    result = {
        "benchmark": "determinism",
        "title": cartridge.title,
        "rom_sha256": cartridge.sha256,
        "steps": options.steps,
        "seed": options.seed,
        "processes": len(KINDS),
        "marks": len(marks["plain"]),
        "distinct_marks": len(set(marks["plain"].values())),
        "last_mark": list(marks["plain"].values())[-1],
        "same": same,
    }
    return finish(result, met=same)


def run(kind: str, options: argparse.Namespace) -> dict[int, str]:
    """Play in a process of its own; step → digest. Its string hashes have another seed too."""
    command = [sys.executable, __file__, "--worker", kind]
    command += ["--steps", str(options.steps), "--seed", str(options.seed)]
    command += ["--rom", str(options.rom)] if options.rom else []
    environment = {**os.environ, "PYTHONHASHSEED": str(KINDS.index(kind) + 1)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return dict(json.loads(line) for line in done.stdout.splitlines())


def play(options: argparse.Namespace) -> Iterator[tuple[int, str]]:
    """Play and yield (step, digest) at each mark.

    The digest is of the RAM and of everything that was observed and paid so far.
    """
    disturbed = options.worker == "disturbed"
    config = EnvConfig(
        run_id="determinism",
        game=GameSettings(actions="seed", rom_path=options.rom, episode_length=3_000),
        capture=CaptureSettings(best_episodes=0),
    )
    env = ZeldaOracleEnv({"env": config}, render_mode="rgb_array" if disturbed else None)
    seen = hashlib.sha256()
    observation, _ = env.reset(seed=options.seed)
    actions, detours = np.random.default_rng(options.seed), np.random.default_rng(0)
    action, left = 0, 0
    for step in range(1, options.steps + 1):
        if not left:
            action, left = int(actions.integers(8)), int(actions.integers(1, HOLD_STEPS + 1))
        left -= 1
        observation, reward, terminated, truncated, _ = env.step(np.int64(action))
        seen.update(observation.tobytes() + np.float64(reward).tobytes())
        if terminated or truncated:
            env.reset()
        if disturbed and detours.random() < DETOUR_CHANCE:
            detour(env, detours)
        if step % (options.steps // MARKS) == 0:
            seen.update(env.ram_digest().encode())
            yield step, seen.hexdigest()
    env.close()


def detour(env: ZeldaOracleEnv, rng: np.random.Generator) -> None:
    """Leave the game and come back to the very same moment."""
    emulator = env.emulator
    state = emulator.save_state()
    for _ in range(int(rng.integers(1, DETOUR_STEPS))):
        emulator.step(int(rng.integers(8)), 4)
    middle, frames = emulator.save_state(), int(rng.integers(2, DETOUR_FRAMES))
    emulator.load_state(middle)
    emulator.tick(frames)
    at_once = emulator.ram_digest()
    emulator.load_state(middle)
    for _ in range(frames):
        emulator.tick(1)
    if emulator.ram_digest() != at_once:
        sys.exit(f"{frames} frames in one tick gave other RAM than one by one")
    emulator.load_state(state)


def parse_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--steps", type=int, default=50_000, help="decision steps (50000)")
    parser.add_argument("--seed", type=int, default=3, help="of the environment and the actions")
    parser.add_argument("--rom", type=Path, help="ROM to play; the embedded game when left out")
    parser.add_argument("--worker", choices=KINDS, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
