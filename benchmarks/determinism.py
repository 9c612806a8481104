"""Determinism: one seed, the same actions, three processes.

    python benchmarks/determinism.py --steps 50000

Two processes play alike. The third draws every step, and now and then saves its state, plays on for
a while with other buttons, and loads the state again; on each of these detours it also plays n
frames in one tick and again one by one, which must give the same RAM. All must have the same RAM at
every mark.
Prints each mark, then one line of JSON. Exit code 0 when all marks are the same.
"""

import hashlib
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from outcome import finish, parser_of, say

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.zelda_env import ZeldaOracleEnv
from rlaif.trainer.settings.game import CaptureSettings, GameSettings

PROCESSES = {"plain": False, "again": False, "disturbed": True}
"""Name → whether it is disturbed."""

MARKS = 10
HOLD_STEPS = 6
"""Steps for which an action is kept: with a change at each step the player stays in place."""

DETOUR_CHANCE, DETOUR_STEPS, DETOUR_FRAMES = 1 / 400, 20, 40


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--steps", type=int, default=50_000, help="decision steps (50000)")
    parser.add_argument("--seed", type=int, default=3, help="of the environment and the actions")
    options = parser.parse_args()
    # New interpreters, so that string hashes have another seed in each.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        playing = {
            name: pool.submit(play, options.steps, options.seed, disturbed=disturbed)
            for name, disturbed in PROCESSES.items()
        }
        marks = {name: each.result() for name, each in playing.items()}
    plain = marks["plain"]
    for at in plain:
        say(f"step {at}: {' '.join(f'{name} {found[at][:16]}' for name, found in marks.items())}")
    same = all(found == plain for found in marks.values())
    cartridge = load_cartridge()
    result = {
        "benchmark": "determinism",
        "title": cartridge.title,
        "rom_sha256": cartridge.sha256,
        "steps": options.steps,
        "seed": options.seed,
        "processes": len(PROCESSES),
        "marks": len(plain),
        "distinct_marks": len(set(plain.values())),
        "last_mark": list(plain.values())[-1],
        "same": same,
    }
    return finish(result, met=same)


def play(steps: int, seed: int, *, disturbed: bool) -> dict[int, str]:
    """Step → digest at each mark: of the RAM, and of all observations and rewards so far."""
    config = EnvConfig(
        run_id="determinism",
        game=GameSettings(actions="seed", episode_length=3_000),
        capture=CaptureSettings(best_episodes=0),
    )
    env = ZeldaOracleEnv({"env": config}, render_mode="rgb_array" if disturbed else None)
    seen, marks = hashlib.sha256(), {}
    env.reset(seed=seed)
    actions, detours = np.random.default_rng(seed), np.random.default_rng(0)
    action, left = 0, 0
    for step in range(1, steps + 1):
        if not left:
            action, left = int(actions.integers(8)), int(actions.integers(1, HOLD_STEPS + 1))
        left -= 1
        observation, reward, terminated, truncated, _ = env.step(np.int64(action))
        seen.update(observation.tobytes() + np.float64(reward).tobytes())
        if terminated or truncated:
            env.reset()
        if disturbed and detours.random() < DETOUR_CHANCE:
            detour(env, detours)
        if step % (steps // MARKS) == 0:
            seen.update(env.ram_digest().encode())
            marks[step] = seen.hexdigest()
    env.close()
    return marks


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
        raise AssertionError(f"{frames} frames in one tick gave other RAM than one by one")
    emulator.load_state(state)


if __name__ == "__main__":
    sys.exit(main())
