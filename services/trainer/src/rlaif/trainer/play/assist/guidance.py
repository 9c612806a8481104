"""Guidance of a runner's N games: when a button is requested, and the bonus for following it.

    bonus = guidance.choose(n, ...)       # the policy decided in environment n
    guidance.draw()                       # which environments ask after this step
    guidance.ask(n, ...)                  # after the step, for those in `drawn`
    guidance.hear(reply)                  # for each reply

It has its own random stream and reads no clock. Effect on learning: ADR 0024.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Mode
from rlaif.contracts.telemetry.assistance import AssistanceEvent
from rlaif.game.decisions.catalog import DECISIONS, Decision
from rlaif.game.machine.actions import Action
from rlaif.game.machine.pictures import jpeg
from rlaif.game.motion.grid import FEET
from rlaif.game.motion.terrain import TILE
from rlaif.trainer.play.assist.figures import AssistanceFigures, SuggestionFate, count, reason
from rlaif.trainer.play.assist.suggestions import NOWHERE, KeptSuggestion, Spot
from rlaif.trainer.play.planner_port import Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings.planner import GuidanceSettings

REJECTED_REST = 1024
"""Steps without a question after a rejected one, unless a reply arrives earlier: a full planner
stays full until then, and each question costs a briefing (2 ms) and sometimes a picture."""

QUALITY = 75
"""JPEG quality; from the specification, as is the size of 320 by 288."""

TEXT: Mode = "dialog"
VISION: Mode = "vision"

_SCALE = 2

_STREAM = 0x47554944
"""Separates this random stream from the games', whose seeds are all smaller."""

_MAX_EVENTS = 8
"""Newest suggestions in a report; a limit that leaves room for plans, which are fewer."""


def guidance_stream(drawn_from: Sequence[int]) -> np.random.Generator:
    """The random stream of a runner's questions, from the seed words of its games' streams."""
    return np.random.default_rng([*drawn_from, _STREAM])


def question_picture(screen: npt.NDArray[np.uint8]) -> bytes:
    """JPEG of 320 by 288 pixels from `[144, 160, 3] uint8` RGB; about a millisecond, 10 kB.

    Pixels are repeated, not interpolated, which keeps the game's edges sharp.
    """
    larger = np.ascontiguousarray(screen.repeat(_SCALE, axis=0).repeat(_SCALE, axis=1))
    return jpeg(larger, quality=QUALITY)


def button_of(index: int) -> int:
    """The button that corresponds to a decision on the screen; -1 if there is none."""
    return _BUTTONS[index]


def _comparable_button(decision: Decision) -> int:
    match decision.family:
        case "BUTTON":
            return decision.index
        case "INTERACT":
            return int(Action.A)
        case "AIMED" | "FIGHT":
            return int(Action.B)
        case _:
            return -1 if decision.direction is None else int(decision.direction)


_BUTTONS = tuple(_comparable_button(decision) for decision in DECISIONS)


@dataclass(slots=True)
class _GuidedGame:
    """Guidance of one environment.

    Attributes:
        kept: Latest suggestion of the episode, the specification's `last_llm_suggestion`;
            open or not.
        request: The pending question, and where it was asked.
        elsewhere: Facts at which `kept` does not apply.
        paid: Bonuses of the episode so far.
        free_at: Step of `Guidance` from which another question may be asked.
    """

    kept: KeptSuggestion | None = None
    request: tuple[PlannerQuestion, Spot] | None = None
    elsewhere: GameFacts | None = None
    paid: float = 0.0
    free_at: int = 0


class Guidance:
    """Suggestions and bonuses of N environments, which do not share any suggestion.

    Attributes:
        account: Counts and events; replaced for each fragment.
        drawn: Environment → mode of its question after the current step.
        open: Environments with an open suggestion.
    """

    def __init__(
        self,
        settings: GuidanceSettings,
        *,
        count: int,
        rng: np.random.Generator,
        planner: Planner,
        runner: int = 0,
    ) -> None:
        """Guide N = `count` environments; `rng` is used for nothing else."""
        self._settings, self._rng = settings, rng
        self._planner, self._runner = planner, runner
        self._games = [_GuidedGame() for _ in range(count)]
        self._steps = self._planner_free_at = self._pending = 0
        self.account = AssistanceFigures()
        self.drawn: dict[int, Mode] = {}
        self.open: set[int] = set()

    def draw(self, taken_over: Collection[int] = ()) -> None:
        """Draw the environments that ask after this step, except those taken over.

        Call it after `choose` of the same step. It draws one number per environment in any case.
        """
        self._steps += 1
        numbers = self._rng.random(len(self._games))
        text = self._settings.text_chance
        self.drawn = {}
        if self._is_full():
            return
        for n in np.flatnonzero(numbers < text + self._settings.vision_chance).tolist():
            mode = TEXT if numbers[n] < text else VISION
            if n not in taken_over and self._may_ask(self._games[n], mode):
                self.drawn[n] = mode

    def choose(self, n: int, action: int, facts: GameFacts, step: int) -> float:
        """Compare the policy's `action` at `facts` with the suggestion; returns the bonus.

        Not to be called for the planner's steps. `step` is the number of emulator steps that the
        episode had before.
        """
        game = self._games[n]
        kept = game.kept
        if kept is None or n not in self.open or self._has_expired(n, kept, step):
            return 0.0
        if facts is game.elsewhere:  # the player has not moved
            return 0.0
        if not self._applies(n, kept, facts):
            game.elsewhere = facts
            return 0.0
        kept.compared += 1
        amount = 0.0
        if action == kept.button:
            amount = self._bonus(kept.mode) if self._covers(game, kept.mode) else 0.0
            game.paid += amount
            kept.followed += 1
            kept.paid += amount
            self.account.bonus[kept.mode] = self.account.bonus.get(kept.mode, 0.0) + amount
        limit = self._settings.decisions
        if limit is not None and (kept.followed or kept.compared >= limit):
            self._end(n, "declined")
        return amount

    def ask(
        self,
        n: int,
        facts: GameFacts,
        step: int,
        evidence: Callable[[], Briefing],
        screen: Callable[[], npt.NDArray[np.uint8]],
    ) -> None:
        """Ask for a button in environment `n`, which has just played a step that `draw` chose.

        `facts` and `step` are those after it. `evidence` and `screen` (`[144, 160, 3] uint8`) are
        evaluated only if needed.
        """
        mode = self.drawn.get(n)
        if mode is None or self._is_full() or not facts.settled or facts.dead:
            return
        about = _about(facts)
        if self._planner.refuses(mode, "suggestion", about):
            self._planner_free_at = self._steps + REJECTED_REST
            return
        briefing = evidence()
        picture = question_picture(screen()) if mode == VISION else None
        question = PlannerQuestion(
            env=n,
            mode=mode,
            kind="suggestion",
            situation=_situation(about, briefing, picture),
            evidence=briefing,
            picture=picture,
            asked_step=step,
        )
        if not self._planner.ask(question):
            self._planner_free_at = self._steps + REJECTED_REST
            return
        self._pending += 1
        self._games[n].request = (question, Spot.of(facts))
        self._games[n].free_at = self._steps + self._settings.rest_steps

    def hear(self, reply: PlannerReply) -> None:
        self._pending -= 1
        self._planner_free_at = self._steps
        n, mode = reply.question.env, reply.question.mode
        game = self._games[n]
        spot = None
        if game.request is not None and game.request[0] is reply.question:
            spot, game.request = game.request[1], None
        if reply.suggestion is None:
            self._note(_failure(reply, self._name(n)))
            return
        count(self.account.suggestions, mode, "given")
        if spot is None:
            self._close(n, KeptSuggestion.of(reply, NOWHERE), "left")
            return
        self._end(n, "replaced")
        game.kept, game.elsewhere = KeptSuggestion.of(reply, spot), None
        self.open.add(n)

    def drop(self, n: int) -> None:
        """Drop the suggestion and the pending question of environment `n` before a takeover."""
        self._games[n].request = None
        self._end(n, "left")

    def begin_episode(self, n: int) -> None:
        self.drop(n)
        self._games[n] = _GuidedGame()

    def state_dict(self) -> dict[str, Any]:
        """State without pending questions, which are dropped on a resume."""
        return {
            "rng": self._rng.bit_generator.state,
            "kept": [None if game.kept is None else game.kept.plain() for game in self._games],
            "paid": [game.paid for game in self._games],
            "rests": [max(0, game.free_at - self._steps) for game in self._games],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._rng.bit_generator.state = state["rng"]
        self._games = [
            _GuidedGame(
                None if kept is None else KeptSuggestion.from_plain(kept),
                paid=paid,
                free_at=self._steps + rest,
            )
            for kept, paid, rest in zip(state["kept"], state["paid"], state["rests"], strict=True)
        ]
        self.open = {n for n, game in enumerate(self._games) if game.kept and not game.kept.fate}
        self._pending = 0
        self.drawn = {}

    def _may_ask(self, game: _GuidedGame, mode: Mode) -> bool:
        return game.request is None and self._steps >= game.free_at and self._covers(game, mode)

    def _is_full(self) -> bool:
        """Whether the planner, or this runner's share of it, accepts no question now."""
        limit = self._settings.most_waiting
        return self._steps < self._planner_free_at or (limit is not None and self._pending >= limit)

    def _bonus(self, mode: Mode) -> float:
        """The bonus rounded to float32, as rewards are, so that the limit is exact."""
        settings = self._settings
        return float(np.float32(settings.vision_bonus if mode == VISION else settings.text_bonus))

    def _covers(self, game: _GuidedGame, mode: Mode) -> bool:
        """Whether the episode's limit leaves room for the whole bonus."""
        limit = self._settings.most_an_episode
        return limit is None or game.paid + self._bonus(mode) <= limit

    def _has_expired(self, n: int, kept: KeptSuggestion, step: int) -> bool:
        limit = self._settings.expiry_steps
        if limit is None or step - kept.asked_step <= limit:
            return False
        self._end(n, "expired")
        return True

    def _applies(self, n: int, kept: KeptSuggestion, facts: GameFacts) -> bool:
        """Whether a decision at `facts` is compared with the suggestion; may end it."""
        reach = self._settings.reach_tiles
        if reach is None:
            return True
        if not facts.settled:
            return False
        here = Spot.of(facts)
        if not here.shares_room_with(kept.spot):
            self._end(n, "left")
            return False
        return here.is_like(kept.spot, reach)

    def _end(self, n: int, fate: SuggestionFate) -> None:
        kept = self._games[n].kept
        if kept is not None and kept.fate is None:
            self.open.discard(n)
            self._close(n, kept, fate)

    def _close(self, n: int, suggestion: KeptSuggestion, fate: SuggestionFate) -> None:
        """End a suggestion; one that was followed before counts as followed."""
        suggestion.fate = "followed" if suggestion.followed else fate
        count(self.account.suggestions, suggestion.mode, suggestion.fate)
        self._note(suggestion.event(self._name(n)))

    def _note(self, event: AssistanceEvent) -> None:
        self.account.events = [*self.account.events, event][-_MAX_EVENTS:]

    def _name(self, n: int) -> str:
        return f"{self._runner}-{n}"


def _failure(reply: PlannerReply, env: str) -> AssistanceEvent:
    return AssistanceEvent(
        kind="suggestion",
        mode=reply.question.mode,
        env=env,
        step=reply.question.asked_step,
        call=reply.outcome,
        ending_reason=reason(reply.detail or ""),
        latency_seconds=reply.latency_seconds,
    )


def _about(facts: GameFacts) -> str:
    """Room and tile: the common prefix of the keys of equal questions."""
    tile = facts.x // TILE, (facts.y + FEET) // TILE
    return f"suggestion/{facts.group}/{facts.room}/{tile[0]}/{tile[1]}"


def _situation(about: str, evidence: Briefing, picture: bytes | None) -> str:
    """Key of questions with interchangeable answers: equal evidence and picture."""
    digest = blake2b(evidence.to_json().encode(), digest_size=16)
    digest.update(picture or b"")
    return f"{about}/{digest.hexdigest()}"
