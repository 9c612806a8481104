"""What a language model does in the games of a runner: the one object that `EmulatorVector` calls.

    actions = assistance.before_step(actions, by_planner)    # once for all environments
    ... the step is played ...
    assistance.after_step(n, action)                         # each environment that goes on
    assistance.begin_episode(n)                              # each that begins another episode

Takeovers (`play.takeover`) put the planner's button in the place of the policy's; guidance asks for
one button and pays for following it. Nothing here waits, draws from the games' random streams or
touches an emulator but to read it: a game that is not taken over plays as it would alone.
"""

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rlaif.contracts.briefing import Briefing
from rlaif.contracts.plans import Macro, Mode
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.navigation.room_graph import RoomGraph, RoomGraphError
from rlaif.trainer.play.assistance_figures import AssistanceFigures
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.planner_port import Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.play.takeover.takeover import Executor, Takeover, TakeoverParts
from rlaif.trainer.play.takeover.ways import WayLearner
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings.takeover import TakeoverSettings

Actions = npt.NDArray[np.int64]

REFUSED_REST = 1024
"""Vector steps without a plan asked for after a question was refused, unless a reply comes before:
a planner that is full stays so until then, and a question costs milliseconds."""


class Guide(Protocol):
    """Guidance, as it is called: `rlaif.trainer.play.guidance` keeps it."""

    @property
    def drawn(self) -> dict[int, Mode]:
        """Environment → whom it asks after the step that comes now."""
        ...

    @property
    def open(self) -> AbstractSet[int]:
        """Environments with a suggestion that counts."""
        ...

    def draw(self, taken_over: Collection[int] = ()) -> None:
        """Before each step: decide who asks after it; those taken over do not.

        Comes after `choose` of the same step.
        """
        ...

    def looks(self, n: int) -> bool:
        """Whether environment `n` has to draw the step that comes now."""
        ...

    def choose(self, n: int, action: int, facts: GameFacts, step: int) -> float:
        """The policy chose `action` itself; gives what it is paid for that."""
        ...

    def ask(
        self,
        n: int,
        facts: GameFacts,
        step: int,
        evidence: Callable[[], Briefing],
        screen: Callable[[], npt.NDArray[np.uint8]],
    ) -> PlannerQuestion | None:
        """Ask for a button after a step that `draw` chose."""
        ...

    def hear(self, reply: PlannerReply) -> bool:
        """A question of kind `suggestion` was answered."""
        ...

    def drop(self, n: int) -> None:
        """A planner takes over: what was suggested, or asked, counts no more."""
        ...

    def begin_episode(self, n: int) -> None:
        """Another episode starts in environment `n`."""
        ...

    def tell(self, account: AssistanceFigures) -> None:
        """Add what happened since the last call to an account."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What decides how guidance goes on, as plain values."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume in the middle of the episodes."""
        ...


@dataclass(frozen=True)
class AssistanceParts:
    """What an `Assistance` is made of besides the games.

    Attributes:
        brief: Tells a moment of a game: its RAM, the ways known so far, macros that failed there.
        executor_of: Makes an executor of macros that knows these ways.
        guide: Makes the guidance of N games that asks by a function; None for none.
    """

    planner: Planner
    takeover: TakeoverSettings
    brief: Callable[[RamBlocks, RoomGraph, Sequence[str]], Briefing]
    executor_of: Callable[[tuple[Macro, ...], RoomGraph], Executor]
    guide: Callable[[int, Callable[[PlannerQuestion], bool]], Guide] | None = None


class Assistance:
    """Takeovers and guidance of N games; they share the planner and the ways between rooms.

    Attributes:
        pictured: Environments that have to draw the step that comes now.
        bonuses: `[N] float32`, what following suggestions pays in the step that was chosen last.
        graph: The ways between rooms that the games have shown so far.
    """

    def __init__(self, parts: AssistanceParts, games: Sequence[GameEnv], *, runner: int) -> None:
        """Help `games`, of runner number `runner`; nothing begins before `begin_episode`."""
        self._games = games
        self._planner = parts.planner
        self.graph = RoomGraph()
        shared = TakeoverParts(
            ask=parts.planner.ask,
            brief=lambda ram, failed: parts.brief(ram, self.graph, failed),
            executor_of=lambda macros: parts.executor_of(macros, self.graph),
        )
        self._takeovers = [
            Takeover(
                parts.takeover,
                shared,
                env=n,
                name=f"{runner}-{n}",
                read=partial(read_blocks, game.emulator),
            )
            for n, game in enumerate(games)
        ]
        self._brief = shared.brief
        self._ways = [WayLearner(self.graph) for _ in games]
        self._guide = None if parts.guide is None else parts.guide(len(games), parts.planner.ask)
        self._running: dict[int, None] = {}  # a set in the order in which they began
        self._steps = self._closed_until = 0
        self._scenes: list[RamBlocks | None] = [None] * len(games)
        self._facts: list[GameFacts | None] = [None] * len(games)
        self.pictured: Collection[int] = ()
        self.bonuses = np.zeros(len(games), dtype=np.float32)
        self.begin_fragment()

    def begin_fragment(self) -> None:
        """Count from here."""
        self._account = AssistanceFigures()
        for takeover in self._takeovers:
            takeover.account = self._account

    def end_fragment(self) -> AssistanceFigures:
        """What happened since `begin_fragment`."""
        self._account.planner = self._planner.counts()
        if self._guide is not None:
            self._guide.tell(self._account)
        return self._account

    def before_step(self, actions: Actions, by_planner: npt.NDArray[np.bool_]) -> Actions:
        """What is played in the step that comes now, `[N]`, given what the policy chose.

        Sets `by_planner`, `[N]`, where that is the planner's button; `actions` is left as it is.
        """
        self._steps += 1
        for reply in self._planner.replies():
            self._hear(reply)
        played = actions
        for n in list(self._running):
            button = self._takeovers[n].choose()
            if button is None:
                del self._running[n]
                continue
            if played is actions:
                played = actions.copy()
            played[n], by_planner[n] = button, True
        if self._guide is not None:
            self._ask_the_guide(self._guide, actions)
        return played

    def after_step(self, n: int, action: int) -> None:
        """Environment `n` played `action`, and its episode goes on."""
        game = self._games[n]
        before, self._facts[n] = self._facts[n], game.facts
        scene = game.scene if game.scene is not self._scenes[n] else None
        if scene is not None:
            self._scenes[n] = scene
            self._ways[n].see(scene, before, action)
        if self._takeovers[n].after_step(scene, may_ask=self._steps >= self._closed_until):
            self._closed_until = self._steps + REFUSED_REST
        if self._guide is not None and n in self._guide.drawn:
            evidence = lambda: self._brief(read_blocks(game.emulator), ())  # noqa: E731  # one use
            self._guide.ask(n, game.facts, game.steps, evidence, game.emulator.screen)

    def begin_episode(self, n: int) -> None:
        """Environment `n` begins another episode; a takeover of the one before is over."""
        self._takeovers[n].begin_episode()
        self._begin_looking(n)
        if self._guide is not None:
            self._guide.begin_episode(n)

    @property
    def guides(self) -> bool:
        """Whether following suggestions is paid."""
        return self._guide is not None

    def takes_over(self, n: int) -> bool:
        """Whether the planner plays in environment `n`."""
        return n in self._running

    def state_dict(self) -> dict[str, Any]:
        """What decides how it goes on, as plain values; between two fragments.

        Takeovers that are under way and questions that wait are not in it: a resumed run drops
        them, and the policy plays on.
        """
        return {
            "takeovers": [takeover.state_dict() for takeover in self._takeovers],
            "ways": self.graph.to_json(),
            "guide": None if self._guide is None else self._guide.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Resume in the middle of the episodes; None: nothing is known of them."""
        if state is None:
            for n in range(len(self._games)):
                self.begin_episode(n)
            return
        for n, saved in enumerate(state["takeovers"]):
            self._takeovers[n].load_state_dict(saved)
            self._begin_looking(n)
        for crossing in _ways_of(state["ways"]):
            self.graph.add_crossing(crossing)
        if self._guide is not None and state["guide"] is not None:
            self._guide.load_state_dict(state["guide"])

    def close(self) -> None:
        """Ask no more."""
        self._planner.close()

    def _begin_looking(self, n: int) -> None:
        """Environment `n` stands somewhere else: look at it anew."""
        self._running.pop(n, None)
        self._ways[n].begin_episode()
        self._scenes[n] = self._facts[n] = None

    def _hear(self, reply: PlannerReply) -> None:
        self._closed_until = self._steps  # there is room for another question
        n = reply.question.env
        if reply.question.kind == "suggestion":
            if self._guide is not None:
                self._guide.hear(reply)
        elif self._takeovers[n].hear(reply):
            self._running[n] = None
            if self._guide is not None:
                self._guide.drop(n)

    def _ask_the_guide(self, guide: Guide, actions: Actions) -> None:
        """What it pays for the policy's own choices, and whose screen it wants to see."""
        self.bonuses[:] = 0.0
        for n in guide.open - self._running.keys():
            game = self._games[n]
            self.bonuses[n] = guide.choose(n, int(actions[n]), game.facts, game.steps)
        guide.draw(self._running)
        self.pictured = [n for n in guide.drawn if guide.looks(n)]


def _ways_of(text: str) -> RoomGraph:
    """A graph that was saved; empty when it is of another version."""
    try:
        return RoomGraph.from_json(text)
    except RoomGraphError:
        return RoomGraph()
