"""Where the CPU seconds of a runner and of the driver go, part by part.

Parts nest: what runs inside another part is taken off it. A wrapped call costs about 1 µs.
"""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

_STATE: dict[str, Any] = {"seconds": {}, "open": []}


def wrap(owner: Any, method: str, part: str) -> None:
    """Count the calls of `owner.method` as `part`, once."""
    plain: Callable[..., Any] = getattr(owner, method)
    if getattr(plain, "is_counted", False):
        return

    @wraps(plain)
    def counted(*args: Any, **kwargs: Any) -> Any:
        inside, began = [0.0], time.thread_time()
        _STATE["open"].append(inside)
        try:
            return plain(*args, **kwargs)
        finally:
            spent = time.thread_time() - began
            _STATE["open"].pop()
            _STATE["seconds"][part] = _STATE["seconds"].get(part, 0.0) + spent - inside[0]
            if _STATE["open"]:
                _STATE["open"][-1][0] += spent

    counted.is_counted = True  # type: ignore[attr-defined]  # a mark for the next call
    setattr(owner, method, counted)


def watch_runner(runner: Any) -> None:
    """Count the parts of a runner process from now on, ours or RLlib's."""
    from rlaif.game.machine.emulator import PyBoyEmulator
    from rlaif.trainer.learner.algorithm.inference import PolicyInference
    from rlaif.trainer.play.vector import EmulatorVector
    from rlaif.trainer.play.zelda_env import ZeldaOracleEnv

    wrap(PyBoyEmulator, "step", "emulator")
    wrap(PyBoyEmulator, "tick", "emulator")
    wrap(EmulatorVector, "step", "environment")
    wrap(ZeldaOracleEnv, "step", "environment")
    wrap(PolicyInference, "logits", "inference")
    wrap(type(runner.module), "forward_exploration", "inference")
    wrap(type(runner), "sample", "runner")
    _STATE["seconds"].clear()


def watch_driver(algorithm: Any) -> None:
    """Count the parts of the driver process from now on."""
    learner = algorithm.learner_group._learner
    wrap(learner, "_step" if hasattr(learner, "_step") else "_update", "gradients")
    wrap(type(learner), "update", "learner overhead")
    connector = learner._learner_connector
    if connector is not None:
        wrap(type(connector), "__call__", "advantages and batch")
    from rlaif.trainer.learner.algorithm import ppo

    wrap(ppo, "columns", "advantages and batch")
    wrap(type(algorithm.env_runner_group), "sync_weights", "sync")
    _STATE["seconds"].clear()


def read(_: Any = None) -> dict[str, float]:
    """CPU seconds of each part since it was watched, and of the whole process."""
    return {**_STATE["seconds"], "process": time.process_time()}
