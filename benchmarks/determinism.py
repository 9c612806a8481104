"""Determinism: one seed, the same actions, three processes.

    python benchmarks/determinism.py --steps 50000

Two processes play in the same way, and the third renders every step. All must have the same RAM,
observations and rewards at every mark. `rlaif replay-check` tests saving, loading and ticks. Prints
each mark, then one line of JSON. Exit code 0 if all marks are equal.
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

PROCESSES = {"plain": None, "again": None, "drawn": "rgb_array"}
"""Name → render mode."""

MARKS = 10
HOLD_STEPS = 6
"""Steps for which an action is held: with a change at each step the player stays in place."""


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--steps", type=int, default=50_000, help="emulator steps (50000)")
    parser.add_argument("--seed", type=int, default=3, help="of the environment and the actions")
    options = parser.parse_args()
    # New interpreters, each with another seed of string hashes.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        playing = {
            name: pool.submit(play, options.steps, options.seed, render_mode)
            for name, render_mode in PROCESSES.items()
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


def play(steps: int, seed: int, render_mode: str | None) -> dict[int, str]:
    """Step → digest at each mark: of the RAM, and of all observations and rewards so far."""
    config = EnvConfig(
        run_id="determinism",
        game=GameSettings(actions="seed", episode_length=3_000),
        capture=CaptureSettings(best_episodes=0),
    )
    env = ZeldaOracleEnv({"env": config}, render_mode=render_mode)
    seen, marks = hashlib.sha256(), {}
    env.reset(seed=seed)
    actions = np.random.default_rng(seed)
    action, left = 0, 0
    for step in range(1, steps + 1):
        if not left:
            action, left = int(actions.integers(8)), int(actions.integers(1, HOLD_STEPS + 1))
        left -= 1
        observation, reward, terminated, truncated, _ = env.step(np.int64(action))
        seen.update(observation.tobytes() + np.float64(reward).tobytes())
        if terminated or truncated:
            env.reset()
        if step % (steps // MARKS) == 0:
            seen.update(env.ram_digest().encode())
            marks[step] = seen.hexdigest()
    env.close()
    return marks


if __name__ == "__main__":
    sys.exit(main())
