"""Exploring environments of a runner, in which the search decides instead of the policy.

    seat.choose(rng)                    # the start of the next rollout, for the environment's reset
    seat.begin_episode(…)
    while the episode lasts:
        decision = seat.decide()
        ... the decision is played; `after_step` for each base step ...
        seat.played(step.now)

A rollout is an episode. It ends by `GameEnv.cut_after`, one step after its last decision.
"""

from collections import deque
from collections.abc import Generator
from typing import Any

import numpy as np

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe
from rlaif.game.machine.actions import Action, decode_actions
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks
from rlaif.trainer.play.decisions import Decision
from rlaif.trainer.play.followers.crossing_learner import CrossingLearner
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import EXPLORATION, Start
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.search.jobs import Begin, Job, Outcome, Report, Saved
from rlaif.trainer.search.rollout import Finds, Known, Played, Rollout
from rlaif.trainer.settings.game import STEP_FRAMES


class Explorer:
    """State shared by the exploring environments of a runner: knowledge, starts, finds.

    Attributes:
        seats: Number of these environments.
        known: Knowledge of this runner.
        finds: Finds since the last report.
    """

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.known = Known()
        self.finds = Finds()
        self._outcomes: list[Outcome] = []
        self._saved: list[Saved] = []
        self._starts: deque[Begin] = deque()
        self._repeated: tuple[Begin, int] | None = None

    def take_in(self, job: Job) -> None:
        """Add starts and knowledge."""
        if job.is_first:
            self.known = Known()
            self._starts.clear()
        self.known.take_in(job)
        self._starts.extend(job.starts)

    def next_start(self) -> tuple[Begin, np.random.Generator]:
        """Return the next start and its random stream; the last one again if there is none left."""
        if self._starts:
            self._repeated = self._starts.popleft(), 0
        elif self._repeated is not None:
            self._repeated = self._repeated[0], self._repeated[1] + 1
        else:
            raise RuntimeError("no start to explore from: take_in a job first")
        begin, repeats = self._repeated
        return begin, np.random.default_rng([begin.seed, repeats])

    def save(self, begin: Begin, emulator: Emulator) -> None:
        """Add the state of a start node to the next report."""
        packed, sha256 = pack_keyframe(emulator.save_state())
        self._saved.append(Saved(begin.node, sha256, packed))

    def end(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)

    def report(self) -> Report:
        """Return the results since the last report."""
        found = self.finds
        report = Report(
            finds=tuple(found.finds),
            saved=tuple(self._saved),
            outcomes=tuple(self._outcomes),
            tries=self.known.tries.news(),
            crossings=self.known.new_crossings(),
            frames=found.frames,
            deaths=found.deaths,
            decisions=found.decisions,
            waiting=len(self._starts),
        )
        found.finds = []
        found.frames = found.deaths = found.decisions = 0
        self._outcomes, self._saved = [], []
        return report


class ExploringSeat:
    """The search in one environment: an `EpisodeFollower` that decides, and a `StartSource`."""

    def __init__(self, explorer: Explorer, game: GameEnv) -> None:
        self._explorer, self._game = explorer, game
        game.source.starts = self
        self._rollout: Rollout | None = None
        self._decisions: Generator[int, Played, None] | None = None
        self._next: int | None = None
        self._buttons: list[str] = []

    @property
    def ram(self) -> RamBlocks:
        return self._game.ram

    def digest(self) -> str:
        return self._game.emulator.ram_digest()

    def choose(self, rng: np.random.Generator) -> Start:
        """Return the start of the next rollout; all randomness comes with it."""
        self._begin, self._rng = self._explorer.next_start()
        begin = self._begin
        return Start(
            unpack_keyframe(begin.packed, begin.sha256),
            f"{EXPLORATION}{begin.node}",
            PackedKeyframe(begin.packed, begin.sha256),
            buttons=tuple(map(int, decode_actions(begin.actions))),
            plays_on=True,  # the scene after that leads to states to keep
        )

    def begin_episode(self, facts: GameFacts, start: Start) -> None:
        """Start a rollout; a running one ends."""
        self._end()
        begin, explorer = self._begin, self._explorer
        explorer.finds.frames += sum(STEP_FRAMES + wait for _, wait in start.warm_up)
        self._learner = CrossingLearner(explorer.known.graph)
        self._scene: object = None
        if self.digest() != begin.digest:
            explorer.end(Outcome(begin.cell, begin.rule, is_reached=False))
            return
        if begin.save:
            explorer.save(begin, self._game.emulator)
        self._rollout = Rollout(begin, self, explorer.known, explorer.finds)
        self._decisions = self._rollout.decisions(self._rng)
        self._next = next(self._decisions, None)

    def decide(self) -> int:
        """Return the next decision; the one after the rollout's last ends the episode."""
        self._buttons = []
        if self._next is None:
            self._game.cut_after(self._game.frames)
            return int(Action.NOP)
        return self._next

    def after_step(self, facts: GameFacts, action: int, wait: int) -> None:
        """Note a base step and the crossing that it completed."""
        self._buttons.append(str(action))
        scene = self._game.scene
        if scene is not self._scene:
            self._scene = scene
            self._learner.see(scene.ram, scene.before, action)

    def played(self, decision: Decision) -> None:
        """Record a decision that was played to its end."""
        if self._decisions is None or self._next is None:
            return
        played = Played("".join(self._buttons), decision.frames, decision.died)
        try:
            self._next = self._decisions.send(played)
        except StopIteration:
            self._end()

    def _end(self) -> None:
        if self._rollout is not None:
            self._explorer.end(self._rollout.outcome)
        self._rollout = self._decisions = self._next = None

    def abandon(self) -> None:
        """Abandon the rollout, as another game was loaded; its episode ends with the next step."""
        self._rollout = self._decisions = self._next = None
        self._learner = CrossingLearner(self._explorer.known.graph)
        self._scene = None

    def state_dict(self) -> dict[str, Any]:
        """Empty, as a resumed run starts another rollout."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None: ...
