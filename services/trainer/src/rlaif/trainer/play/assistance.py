"""What a language model does in the games of a runner: the one object that `EmulatorVector` calls.

    actions = assistance.before_step(actions, by_planner)    # once for all environments
    ... the step is played ...
    assistance.begin_episode(n)                              # each that begins another episode
    assistance.after_step(actions, ended)                    # once, for those that go on

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
from rlaif.game.motion.room_graph import RoomGraph, RoomGraphError
from rlaif.trainer.play.assistance_figures import AssistanceFigures
from rlaif.trainer.play.decisions import button_of
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.planner_port import Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.play.takeover.switch import mode_at
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
        guide: Makes the guidance of N games that asks a planner; None for none.
    """

    planner: Planner
    takeover: TakeoverSettings
    brief: Callable[[RamBlocks, RoomGraph, Sequence[str]], Briefing]
    executor_of: Callable[[tuple[Macro, ...], RoomGraph], Executor]
    guide: Callable[[int, Planner], Guide] | None = None


class Assistance:
    """Takeovers and guidance of N games; they share the planner and the ways between rooms.

    Attributes:
        pictured: Environments that have to draw the step that comes now.
        bonuses: `[N] float32`, what following suggestions pays in the step that was chosen last;
            None where it pays nothing.
        graph: The ways between rooms that the games have shown so far.
        on_reply: Called with every answer that comes; None for nobody.
    """

    def __init__(self, parts: AssistanceParts, games: Sequence[GameEnv], *, runner: int) -> None:
        """Help `games`, of runner number `runner`; nothing begins before `begin_episode`."""
        self._games = games
        self._planner = parts.planner
        self.graph = RoomGraph()
        shared = TakeoverParts(
            ask=parts.planner.ask,
            refuses=parts.planner.refuses,
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
        self._guide = None if parts.guide is None else parts.guide(len(games), parts.planner)
        self._running: dict[int, None] = {}  # a set in the order in which they began
        self._steps = self._closed_until = 0
        self._counted = [0] * len(games)  # the steps that each takeover knows of
        self._wakes_at = [0] * len(games)  # until then it has none to see in the same scene
        self._next_wake = 0  # the soonest of them
        self._fresh: set[int] = set()  # environments with a scene that was not looked at
        self._walked: list[RamBlocks | None] = [None] * len(games)
        for n, game in enumerate(games):
            game.on_scene = partial(self._fresh.add, n)
        self.pictured: Collection[int] = ()
        self.bonuses: npt.NDArray[np.float32] | None = None
        self.on_reply: Callable[[PlannerReply], object] | None = None
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
        played = self._take_over(actions, by_planner) if self._running else actions
        if self._guide is not None:
            self._ask_the_guide(self._guide, actions)
        return played

    def after_step(self, actions: Sequence[int], ended: Collection[int] = ()) -> None:
        """The environments played `actions`; the episodes go on but for those in `ended`.

        In most steps of an environment the scene is the same and its takeover sleeps: they cost
        nothing.
        """
        drawn = {} if self._guide is None else self._guide.drawn
        if not (self._fresh or drawn or self._steps >= self._next_wake):
            return
        for n in sorted(self._fresh.union(drawn, self._awake())):
            if n in ended:
                continue
            if n in self._fresh or self._steps >= self._wakes_at[n]:
                self._look(n, actions[n])
            if n in drawn:
                self._ask_for_a_button(n, self._games[n])

    def walked(self, n: int, button: int) -> None:
        """Environment `n` played a step inside a decision of its own length.

        The ways between rooms are learned of each. Takeovers and guidance look at decisions alone.
        """
        game = self._games[n]
        if game.scene is not None and game.scene is not self._walked[n]:
            self._walked[n] = game.scene
            self._ways[n].see(game.scene, game.facts_before, button)

    def begin_episode(self, n: int) -> None:
        """Environment `n` begins another episode; a takeover of the one before is over."""
        self._takeover(n, but=1).begin_episode()
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
            "takeovers": [self._takeover(n).state_dict() for n in range(len(self._games))],
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
            self._takeover(n).load_state_dict(saved)
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
        self._walked[n] = None
        self._fresh.add(n)
        self._counted[n] = self._wakes_at[n] = self._next_wake = self._steps

    def _awake(self) -> Collection[int]:
        """Environments whose takeovers have to see this step."""
        if self._steps < self._next_wake:
            return ()
        return [n for n, wakes_at in enumerate(self._wakes_at) if self._steps >= wakes_at]

    def _look(self, n: int, action: int) -> None:
        """A step of an environment that shows another scene, or whose takeover is awake."""
        sees_more = self._see(n, action) if n in self._fresh else False
        if not sees_more and self._steps < self._wakes_at[n]:
            return
        takeover = self._takeover(n, but=1)
        if takeover.after_step(may_ask=self._steps >= self._closed_until):
            self._closed_until = self._steps + REFUSED_REST
        self._counted[n] = self._steps
        next_step = self._steps + 1
        self._wakes_at[n] = next_step + takeover.steps_to_sleep(self._closed_until - next_step)
        self._next_wake = min(self._wakes_at)

    def _see(self, n: int, action: int) -> bool:
        """Another scene, after `action`; gives whether its mode is another one."""
        self._fresh.discard(n)
        game, takeover = self._games[n], self._takeovers[n]
        scene = game.scene
        assert scene is not None, "an episode has begun"
        if scene is not self._walked[n]:
            self._ways[n].see(scene, game.facts_before, action)
        before, takeover.seen = takeover.seen, mode_at(game.facts, scene)
        return takeover.seen != before

    def _take_over(self, actions: Actions, by_planner: npt.NDArray[np.bool_]) -> Actions:
        """What is played where the planner plays in some environments."""
        played = actions.copy()
        for n in list(self._running):
            button = self._takeovers[n].choose()
            if button is None:
                del self._running[n]
            else:
                played[n], by_planner[n] = button, True
        return played

    def _takeover(self, n: int, *, but: int = 0) -> Takeover:
        """That of environment `n`, told of the steps that it slept through, `but` for the last."""
        slept = self._steps - but - self._counted[n]
        if slept > 0:
            self._takeovers[n].pass_steps(slept)
            self._counted[n] += slept
        return self._takeovers[n]

    def _ask_for_a_button(self, n: int, game: GameEnv) -> None:
        assert self._guide is not None
        self._guide.ask(
            n,
            game.facts,
            game.steps,
            evidence=lambda: self._brief(read_blocks(game.emulator), ()),
            screen=game.emulator.screen,
        )

    def _hear(self, reply: PlannerReply) -> None:
        if self.on_reply is not None:
            self.on_reply(reply)
        self._closed_until = self._steps  # there is room for another question
        self._wakes_at = [self._steps] * len(self._games)
        self._next_wake = self._steps
        n = reply.question.env
        if reply.question.kind == "suggestion":
            if self._guide is not None:
                self._guide.hear(reply)
        elif self._takeover(n, but=1).hear(reply):
            self._running[n] = None
            if self._guide is not None:
                self._guide.drop(n)

    def _ask_the_guide(self, guide: Guide, actions: Actions) -> None:
        """What it pays for the policy's own choices, and whose screen it wants to see."""
        self.bonuses = None
        if guide.open:
            for n in guide.open - self._running.keys():
                game = self._games[n]
                button = button_of(int(actions[n]))
                paid = guide.choose(n, button, game.facts, game.steps)
                if paid:
                    if self.bonuses is None:
                        self.bonuses = np.zeros(len(self._games), dtype=np.float32)
                    self.bonuses[n] = paid
        guide.draw(self._running)
        self.pictured = [n for n in guide.drawn if guide.looks(n)] if guide.drawn else ()


def _ways_of(text: str) -> RoomGraph:
    """A graph that was saved; empty when it is of another version."""
    try:
        return RoomGraph.from_json(text)
    except RoomGraphError:
        return RoomGraph()
