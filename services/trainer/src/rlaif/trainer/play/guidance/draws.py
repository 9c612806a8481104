"""Who asks for a button after which step: chances and a random stream in, environments out."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from rlaif.contracts.plans import Mode
from rlaif.trainer.settings.guidance import GuidanceSettings

TEXT: Mode = "dialog"
VISION: Mode = "vision"

_AHEAD = 256
"""Steps for which numbers are drawn at once; drawn for each alone they cost 4 µs."""

_NOBODY: Mapping[int, Mode] = {}


class Draws:
    """One number for each of N environments and each step, whatever they do.

    Numbers are drawn ahead. Nobody can tell: `state` is that of a stream drawn step by step.
    """

    def __init__(self, settings: GuidanceSettings, *, count: int, rng: np.random.Generator) -> None:
        """Draw for N = `count` environments from `rng`, which is used for nothing else."""
        self._text_chance = settings.text_chance
        self._any_chance = settings.text_chance + settings.vision_chance
        self._count = count
        self._rng = rng
        self._steps: list[Mapping[int, Mode]] = []
        self._next = 0
        self._before = rng.bit_generator.state

    def next(self) -> Mapping[int, Mode]:
        """Environment → whom chance lets it ask after the step that comes now."""
        if self._next == len(self._steps):
            self._draw_ahead()
        self._next += 1
        return self._steps[self._next - 1]

    @property
    def state(self) -> Mapping[str, Any]:
        """That of the stream before the numbers of the step after."""
        rng = deepcopy(self._rng)
        rng.bit_generator.state = self._before
        rng.random((self._next, self._count))
        return rng.bit_generator.state

    def resume(self, state: Mapping[str, Any]) -> None:
        """Draw on from what `state` gave."""
        self._rng.bit_generator.state = state
        self._before = self._rng.bit_generator.state
        self._steps, self._next = [], 0

    def _draw_ahead(self) -> None:
        self._before = self._rng.bit_generator.state
        luck = self._rng.random((_AHEAD, self._count))
        drawn: dict[int, dict[int, Mode]] = {}
        for step, n in np.argwhere(luck < self._any_chance).tolist():
            mode = TEXT if luck[step, n] < self._text_chance else VISION
            drawn.setdefault(step, {})[n] = mode
        self._steps, self._next = [drawn.get(step, _NOBODY) for step in range(_AHEAD)], 0
