"""Options that are written as a script: each `yield` is one decision step.

    def wave(ram: RamBlocks) -> Script:
        ram = yield Action.UP        # pressed in this step; the RAM is that of the next one
        return done()

A part of a script, which others go through with `yield from`, gives back the RAM that it saw last.
"""

from collections.abc import Callable, Generator

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.options.option import Cause, Choice, failed

Script = Generator[Action, RamBlocks, Choice]
Part = Generator[Action, RamBlocks, RamBlocks]


class GiveUp(Exception):
    """A script cannot go on."""

    def __init__(self, cause: Cause, reason: str) -> None:
        super().__init__(reason)
        self.cause, self.reason = cause, reason


class Scripted:
    """A script as an option."""

    def __init__(self, script: Callable[[RamBlocks], Script]) -> None:
        self._begin = script
        self._script: Script | None = None
        self._end: Choice | None = None

    def next(self, ram: RamBlocks) -> Choice:
        """The next button of the script, or its end."""
        if self._end is not None:
            return self._end
        try:
            return Choice("running", self._step(ram))
        except StopIteration as end:
            self._end = end.value
        except GiveUp as trouble:
            self._end = failed(trouble.cause, trouble.reason)
        return self._end

    def _step(self, ram: RamBlocks) -> Action:
        if self._script is None:
            self._script = self._begin(ram)
            return next(self._script)
        return self._script.send(ram)


def wait(ram: RamBlocks, steps: int) -> Part:
    """Press nothing for some steps."""
    for _ in range(steps):
        ram = yield Action.NOP
    return ram


def tap(action: Action) -> Part:
    """Press a button and let go of it, so that the next press counts as a new one."""
    yield action
    return (yield Action.NOP)
