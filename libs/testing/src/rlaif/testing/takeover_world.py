"""Games without emulators whose RAM a test writes, and an assistance over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Answer, Macro, MoveTo, Plan
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.testing.scripted_planner import ScriptedPlanner
from rlaif.trainer.play.assist.assistance import Assistance, AssistanceParts
from rlaif.trainer.play.assist.guidance import Guidance
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.settings.planner import TakeoverSettings

WHOSE = 0xC001
"""A byte that no part of the game reads: the number of the environment whose RAM this is."""

_BUTTON_TILE, _DUNGEON_TABLE = 0x0C, 3


class WrittenGame:
    """What an assistance needs of a game: RAM that a test writes, facts, counters."""

    def __init__(self, number: int = 0) -> None:
        self._wram = bytearray(0x2000)
        self.emulator: Any = SimpleNamespace(
            has_banks=False,
            wram=lambda: bytes(self._wram),
            screen=lambda: np.zeros((144, 160, 3), dtype=np.uint8),
        )
        self.steps = 0
        self.poke(WHOSE, number)
        self._poke("wSavefileString", SAVEFILE_STRING)
        for name in ("wCutsceneIndex", "wScrollMode", "w1Link.state", "wLinkHealth"):
            self._poke(name, 1)
        self._poke("wGameState", 2)
        self._poke("wActiveCollisions", _DUNGEON_TABLE)
        self.walk()
        self.facts_before = self.facts

    def poke(self, where: int, value: int | bytes) -> None:
        """Write at an address; the scene is another one."""
        data = bytes([value]) if isinstance(value, int) else value
        self._wram[where - 0xC000 : where - 0xC000 + len(data)] = data
        self.scene = RamBlocks(bytes(self._wram))
        self.facts = read_facts(self.scene)

    def walk(self, room: int = 1) -> None:
        """Plain play in a room."""
        self._poke("wActiveRoom", room)
        self._poke("wTextIsActive", 0)
        self._poke("wRoomLayout", bytes(192))

    def read(self, text: int = 5) -> None:
        """A text is open."""
        self._poke("wTextIsActive", 1)
        self._poke("wTextIndex", (text + 0x0400).to_bytes(2, "little"))

    def puzzle(self, *columns: int, room: int = 1) -> None:
        """Buttons in these columns are up."""
        self.walk(room)
        for column in columns:
            self.poke(address("wRoomLayout") + column, _BUTTON_TILE)

    def _poke(self, name: str, value: int | bytes) -> None:
        self.poke(address(name), value)


def plan(env: int, *, steps: int = 3, fails: bool = False) -> Plan:
    """A plan that `TaggedExecutor` plays: for which environment, how long, and how it ends."""
    macros = (Answer(choice=env), MoveTo(column=steps, row=int(fails)))
    return Plan(reason="because", macros=macros, confidence=0.5)


@dataclass
class TaggedExecutor:
    """Presses the button with its environment's number, and minds whose RAM it is shown."""

    macros: tuple[Macro, ...]
    finished: list[Any] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)

    def next(self, ram: RamBlocks) -> Any:
        """One step."""
        tag, length = self.macros
        assert isinstance(tag, Answer)
        assert isinstance(length, MoveTo)
        assert ram.u8(WHOSE) == tag.choice, "the RAM of another environment"
        self.seen.append(ram.u8(WHOSE))
        if len(self.seen) <= (length.column or 0):
            return SimpleNamespace(
                over=False, status="running", action=Action(tag.choice), cause=None, reason=""
            )
        status, cause = ("failed", "no_progress") if length.row else ("done", None)
        self.finished.append(SimpleNamespace(macro=tag, status=status, cause=cause))
        return SimpleNamespace(over=True, status=status, action=Action.NOP, cause=cause, reason="")


class World:
    """Some written games with one assistance; the policy always presses `POLICY`.

    Attributes:
        by_planner: `[T, N]` so far, one list a step.
        played: Likewise the actions.
    """

    POLICY = int(Action.START)

    def __init__(
        self,
        count: int,
        script: Callable[[PlannerQuestion], Any],
        settings: TakeoverSettings | None = None,
        *,
        at_once: bool = False,
        most_in_flight: int = 1_000_000,
        guide: Callable[..., Guidance] | None = None,
    ) -> None:
        self.games = [WrittenGame(n) for n in range(count)]
        self.planner = ScriptedPlanner(script, at_once=at_once, most_in_flight=most_in_flight)
        self.executors: list[TaggedExecutor] = []
        self.told_failed: list[tuple[str, ...]] = []
        self.assistance = Assistance(
            AssistanceParts(
                self.planner, settings or TakeoverSettings(), self._brief, self._execute, guide
            ),
            self.games,  # type: ignore[arg-type]  # they have what is used
            runner=1,
        )
        for n in range(count):
            self.assistance.begin_episode(n)
        self.by_planner: list[list[bool]] = []
        self.played: list[list[int]] = []

    def step(self, ended: Sequence[int] = ()) -> list[bool]:
        """One decision step of all; gives where the planner played."""
        by_planner = np.zeros(len(self.games), dtype=np.bool_)
        actions = np.full(len(self.games), self.POLICY, dtype=np.int64)
        played = self.assistance.before_step(actions, by_planner)
        assert (actions == self.POLICY).all(), "the policy's own choices are left as they are"
        for n, game in enumerate(self.games):
            game.steps += 1
            if n in ended:
                self.assistance.begin_episode(n)
                game.steps = 0
            else:
                self.assistance.walked(n, int(played[n]))
        self.assistance.after_step(ended)
        for game in self.games:
            game.facts_before = game.facts  # of the step that comes next
        self.by_planner.append(by_planner.tolist())
        self.played.append(played.tolist())
        return self.by_planner[-1]

    def steps(self, count: int) -> list[list[bool]]:
        """Several of them."""
        return [self.step() for _ in range(count)]

    def _brief(self, ram: RamBlocks, graph: RoomGraph, failed: Sequence[str]) -> Briefing:
        self.told_failed.append(tuple(failed))
        return Briefing(room=str(ram.u8(address("wActiveRoom"))), failed=tuple(failed))

    def _execute(self, macros: tuple[Macro, ...], graph: RoomGraph) -> TaggedExecutor:
        if isinstance(macros[0], MoveTo):
            raise ValueError("nothing to carry out")
        self.executors.append(TaggedExecutor(macros))
        return self.executors[-1]
