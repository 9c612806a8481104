"""Help of a language model in the games of a runner: the object that `EmulatorVector` calls.

    actions = assistance.before_step(actions, by_planner)    # once for all environments
    ... the step is played; `walked` for each base step ...
    assistance.begin_episode(n)                              # for each that starts an episode
    assistance.after_step(ended)                             # once, for those that continue

A takeover replaces the policy's button by the planner's; guidance suggests one button and rewards
following it. Nothing here blocks, draws from the games' random streams or changes an emulator: a
game without a takeover plays as it would alone.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.planning.briefing import Briefing
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.room_graph import RoomGraph, RoomGraphError
from rlaif.trainer.play.assist.figures import AssistanceFigures
from rlaif.trainer.play.assist.guidance import REJECTED_REST, VISION, Guidance, button_of
from rlaif.trainer.play.assist.takeover import AssistanceParts, Takeover, mode_at
from rlaif.trainer.play.followers.crossing_learner import CrossingLearner
from rlaif.trainer.play.game_env import GameEnv, Scene
from rlaif.trainer.play.planner_port import PlannerReply

Actions = npt.NDArray[np.int64]


@dataclass
class _AssistedGame:
    """State of one environment.

    Attributes:
        scene: The newest scene that was processed.
        is_new: Whether `scene` changed since the last decision.
    """

    game: GameEnv
    takeover: Takeover
    learner: CrossingLearner
    scene: Scene | None = None
    is_new: bool = False


class Assistance:
    """Takeovers and guidance of N games; they share the planner and the room graph.

    Attributes:
        pictured: Environments that have to draw the next step.
        bonuses: `[N] float32`, rewards for following suggestions in the last step; None where all
            are 0.
        graph: Crossings between rooms that the games have shown so far.
        on_reply: Called with every reply.
    """

    def __init__(self, parts: AssistanceParts, games: Sequence[GameEnv], *, runner: int) -> None:
        """Assist `games`, of runner number `runner`; starts with `begin_episode`."""
        self._planner, self._brief = parts.planner, parts.brief
        self.graph = parts.graph
        self._games = [
            _AssistedGame(
                game,
                Takeover(
                    parts, env=n, name=f"{runner}-{n}", read=partial(read_blocks, game.emulator)
                ),
                CrossingLearner(self.graph),
            )
            for n, game in enumerate(games)
        ]
        self._guide = None if parts.guide is None else parts.guide(len(games), parts.planner)
        self._running: dict[int, None] = {}  # a set in the order of their starts
        self._rest = 0  # steps without a request
        self.pictured: Collection[int] = ()
        self.bonuses: npt.NDArray[np.float32] | None = None
        self.on_reply: Callable[[PlannerReply], object] | None = None
        self.begin_fragment()

    def begin_fragment(self) -> None:
        self._account = AssistanceFigures()
        for each in self._games:
            each.takeover.account = self._account
        if self._guide is not None:
            self._guide.account = AssistanceFigures()

    def end_fragment(self) -> AssistanceFigures:
        """Counts and events since `begin_fragment`."""
        self._account.planner = self._planner.counts()
        return self._account if self._guide is None else self._account + self._guide.account

    def before_step(self, actions: Actions, by_planner: npt.NDArray[np.bool_]) -> Actions:
        """The actions of the next step, `[N]`, given the policy's, which are not changed.

        Sets `by_planner`, `[N]`, where the planner plays.
        """
        for reply in self._planner.replies():
            self._hear(reply)
        played = self._take_over(actions, by_planner) if self._running else actions
        if self._guide is not None:
            self._draw_questions(self._guide, actions)
        return played

    def walked(self, n: int, button: int) -> None:
        """Learn the crossing from a new scene after environment `n` played a base step."""
        each = self._games[n]
        scene = each.game.scene
        if scene is not each.scene:
            each.scene, each.is_new = scene, True
            each.learner.see(scene.ram, scene.before, button)

    def after_step(self, ended: Collection[int] = ()) -> None:
        """Update after a decision of all environments; episodes but those in `ended` continue."""
        self._rest -= 1
        guide = self._guide
        drawn: Collection[int] = () if guide is None else guide.drawn
        for n, each in enumerate(self._games):
            if n in ended:
                continue
            game = each.game
            if each.is_new and each.scene is not None:
                each.is_new = False
                each.takeover.seen = mode_at(game.facts, each.scene.ram)
            if each.takeover.after_step(may_ask=self._rest < 0):
                self._rest = REJECTED_REST - 1
            if guide is not None and n in drawn:
                evidence = partial(self._brief_now, game)
                guide.ask(n, game.facts, game.steps, evidence, game.emulator.screen)

    def begin_episode(self, n: int) -> None:
        """Start another episode in environment `n`; a running takeover ends."""
        self._games[n].takeover.begin_episode()
        self._restart(n)
        if self._guide is not None:
            self._guide.begin_episode(n)

    @property
    def guides(self) -> bool:
        """Whether following suggestions is rewarded."""
        return self._guide is not None

    def state_dict(self) -> dict[str, Any]:
        """State between two fragments; running takeovers and pending questions are dropped."""
        return {
            "takeovers": [each.takeover.state_dict() for each in self._games],
            "ways": self.graph.to_json(),
            "guide": None if self._guide is None else self._guide.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any] | None) -> None:
        """Resume in the middle of the episodes; None for a run without a planner."""
        if state is None:
            for n in range(len(self._games)):
                self.begin_episode(n)
            return
        for n, saved in enumerate(state["takeovers"]):
            self._games[n].takeover.load_state_dict(saved)
            self._restart(n)
        for crossing in _graph_of(state["ways"]):
            self.graph.add_crossing(crossing)
        if self._guide is not None and state["guide"] is not None:
            self._guide.load_state_dict(state["guide"])

    def close(self) -> None:
        self._planner.close()

    def _restart(self, n: int) -> None:
        self._running.pop(n, None)
        each = self._games[n]
        each.learner = CrossingLearner(self.graph)
        each.scene, each.is_new = None, False

    def _brief_now(self, game: GameEnv) -> Briefing:
        return self._brief(read_blocks(game.emulator), self.graph, ())

    def _take_over(self, actions: Actions, by_planner: npt.NDArray[np.bool_]) -> Actions:
        played = actions.copy()
        for n in list(self._running):
            button = self._games[n].takeover.choose()
            if button is None:
                del self._running[n]
            else:
                played[n], by_planner[n] = button, True
        return played

    def _hear(self, reply: PlannerReply) -> None:
        if self.on_reply is not None:
            self.on_reply(reply)
        self._rest = 0  # there is room for another question
        n = reply.question.env
        if reply.question.kind == "suggestion":
            if self._guide is not None:
                self._guide.hear(reply)
        elif self._games[n].takeover.hear(reply):
            self._running[n] = None
            if self._guide is not None:
                self._guide.drop(n)

    def _draw_questions(self, guide: Guidance, actions: Actions) -> None:
        """Reward the policy's own choices, and draw the environments that ask after this step."""
        self.bonuses = None
        for n in guide.open - self._running.keys() if guide.open else ():
            game = self._games[n].game
            bonus = guide.choose(n, button_of(int(actions[n])), game.facts, game.steps)
            if bonus:
                if self.bonuses is None:
                    self.bonuses = np.zeros(len(self._games), dtype=np.float32)
                self.bonuses[n] = bonus
        guide.draw(self._running)
        self.pictured = [n for n, mode in guide.drawn.items() if mode == VISION]


def _graph_of(text: str) -> RoomGraph:
    """A saved graph; an empty one if it is of another version."""
    try:
        return RoomGraph.from_json(text)
    except RoomGraphError:
        return RoomGraph()
