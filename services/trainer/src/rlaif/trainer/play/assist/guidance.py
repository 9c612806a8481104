"""Guidance of a runner's N games: when a button is requested, and the bonus for following it.

    bonus = guidance.choose(n, ...)       # the policy decided in environment n
    guidance.draw()                       # which environments ask after this step
    guidance.ask(n, ...)                  # after the step, for those in `drawn`
    guidance.hear(reply)                  # for each reply
    guidance.report(account)              # at the end of a fragment

It draws from a random stream of its own and reads no clock. Effect on learning: ADR 0024.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Mode
from rlaif.game.decisions.catalog import DECISIONS, Decision
from rlaif.game.machine.actions import Action
from rlaif.game.machine.pictures import jpeg
from rlaif.game.motion.grid import FEET
from rlaif.game.motion.terrain import TILE
from rlaif.trainer.play.assist.figures import AssistanceFigures
from rlaif.trainer.play.assist.suggestions import Fate, GuidanceRecord, KeptSuggestion, Spot
from rlaif.trainer.play.planner_port import Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings.planner import GuidanceSettings

REJECTED_REST = 1024
"""Steps without a question after one was rejected, unless a reply arrives before: a full planner
stays full until then, and each question costs a briefing, 2 ms, perhaps a picture."""

QUALITY = 75
"""JPEG quality; from the seeds, as is the size of 320 by 288."""

TEXT: Mode = "dialog"
VISION: Mode = "vision"

_SCALE = 2

_STREAM = 0x47554944
"""Separates this random stream from the games': above all numbers that those are seeded with."""

_AHEAD = 256
"""Steps drawn at once; single draws cost 4 µs each."""

_NOBODY: Mapping[int, Mode] = {}


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
    """The button to which a person who sees the screen would compare a decision; or -1."""
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


class Draws:
    """Which environments may ask after each step: one random number per environment and step.

    Numbers are drawn ahead; `state` is that of a stream that is drawn step by step.
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
        """Environment → mode of the question it may ask after the next step."""
        if self._next == len(self._steps):
            self._draw_ahead()
        self._next += 1
        return self._steps[self._next - 1]

    @property
    def state(self) -> Mapping[str, Any]:
        rng = deepcopy(self._rng)
        rng.bit_generator.state = self._before
        rng.random((self._next, self._count))
        return rng.bit_generator.state

    def resume(self, state: Mapping[str, Any]) -> None:
        self._rng.bit_generator.state = state
        self._before = self._rng.bit_generator.state
        self._steps, self._next = [], 0

    def _draw_ahead(self) -> None:
        self._before = self._rng.bit_generator.state
        drawn_numbers = self._rng.random((_AHEAD, self._count))
        drawn: dict[int, dict[int, Mode]] = {}
        for step, n in np.argwhere(drawn_numbers < self._any_chance).tolist():
            mode = TEXT if drawn_numbers[step, n] < self._text_chance else VISION
            drawn.setdefault(step, {})[n] = mode
        self._steps, self._next = [drawn.get(step, _NOBODY) for step in range(_AHEAD)], 0


class Game:
    """Guidance of one environment.

    Attributes:
        kept: Latest suggestion of the episode, `last_llm_suggestion` of the seeds; open or not.
        request: The pending question, and where it was asked.
        elsewhere: Facts at which `kept` does not apply.
        paid: Bonuses of the episode so far.
        free_at: Step of `Guidance` from which on another question may be asked.
    """

    __slots__ = ("elsewhere", "free_at", "kept", "paid", "request")

    def __init__(self) -> None:
        self.kept: KeptSuggestion | None = None
        self.request: tuple[PlannerQuestion, Spot] | None = None
        self.elsewhere: GameFacts | None = None
        self.paid = 0.0
        self.free_at = 0


class Guidance:
    """Suggestions and bonuses of N environments, which do not share any suggestion.

    Attributes:
        drawn: Environment → mode of the question it asks after the present step.
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
        self._settings = settings
        self._draws = Draws(settings, count=count, rng=rng)
        self._planner = planner
        self._games = [Game() for _ in range(count)]
        self._steps = self._planner_free_at = self._pending = 0
        self._record = GuidanceRecord(runner)
        self.drawn: dict[int, Mode] = {}
        self.open: set[int] = set()

    def draw(self, taken_over: Collection[int] = ()) -> None:
        """Draw which environments ask after this step; those taken over do not.

        Call it after `choose` of the same step.
        """
        self._steps += 1
        drawn = self._draws.next()
        if not drawn or self._is_full():
            self.drawn = {}
            return
        self.drawn = {
            n: mode for n, mode in drawn.items() if n not in taken_over and self._may_ask(n, mode)
        }

    def looks(self, n: int) -> bool:
        """Whether environment `n` has to draw the present step."""
        return self.drawn.get(n) == VISION

    def suggestion(self, n: int) -> KeptSuggestion | None:
        """The latest suggestion of environment `n` in this episode."""
        return self._games[n].kept

    def paid(self, n: int) -> float:
        """Bonuses of environment `n` in this episode."""
        return self._games[n].paid

    def choose(self, n: int, action: int, facts: GameFacts, step: int) -> float:
        """The policy chose `action` at `facts`; returns the bonus.

        Not to be called for the planner's steps. `step` is the number of decision steps that the
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
            amount = self._pay(game, self._bonus(kept.mode))
            kept.followed += 1
            kept.paid += amount
            self._record.account.note_bonus(kept.mode, amount)
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
    ) -> PlannerQuestion | None:
        """Ask for a button in environment `n`, which has just played a step that `draw` chose.

        `facts` and `step` are those after it. Returns the question if it was accepted. `evidence`
        and `screen` (`[144, 160, 3] uint8`) are evaluated only if needed.
        """
        mode = self.drawn.get(n)
        if mode is None or self._is_full() or not facts.settled or facts.dead:
            return None
        about = _about(facts)
        if self._planner.refuses(mode, "suggestion", about):
            self._planner_free_at = self._steps + REJECTED_REST
            return None
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
            return None
        self._pending += 1
        self._games[n].request = (question, Spot.of(facts))
        self._games[n].free_at = self._steps + self._settings.rest_steps
        return question

    def hear(self, reply: PlannerReply) -> bool:
        """A question was answered; returns whether there is a suggestion to follow now."""
        self._pending -= 1
        self._planner_free_at = self._steps
        n = reply.question.env
        game = self._games[n]
        spot = None
        if game.request is not None and game.request[0] is reply.question:
            spot, game.request = game.request[1], None
        if reply.suggestion is None:
            self._record.fail(reply)
            return False
        self._record.account.note_suggestion(reply.question.mode, "given")
        if spot is None:
            self._record.end(n, KeptSuggestion.of(reply, fate="left"))
            return False
        self._end(n, "replaced")
        game.kept, game.elsewhere = KeptSuggestion.of(reply, spot), None
        self.open.add(n)
        return True

    def drop(self, n: int) -> None:
        """A takeover starts in environment `n`: drop its suggestion and its pending question."""
        self._games[n].request = None
        self._end(n, "left")

    def begin_episode(self, n: int) -> None:
        self.drop(n)
        game = self._games[n]
        game.kept, game.paid, game.free_at = None, 0.0, 0

    def report(self, account: AssistanceFigures) -> None:
        """Add what happened since the last call to `account`."""
        self._record.report(account)

    def state_dict(self) -> dict[str, Any]:
        """Without pending questions, which are dropped on a resume."""
        return {
            "rng": self._draws.state,
            "kept": [None if game.kept is None else game.kept.plain() for game in self._games],
            "paid": [game.paid for game in self._games],
            "rests": [max(0, game.free_at - self._steps) for game in self._games],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._draws.resume(state["rng"])
        saved = zip(self._games, state["kept"], state["paid"], state["rests"], strict=True)
        for game, kept, paid, rest in saved:
            game.kept = None if kept is None else KeptSuggestion.from_plain(kept)
            game.paid, game.free_at = paid, self._steps + rest
            game.request = game.elsewhere = None
        self.open = {n for n, game in enumerate(self._games) if game.kept and not game.kept.fate}
        self._pending = 0
        self.drawn = {}

    def _may_ask(self, n: int, mode: Mode) -> bool:
        game = self._games[n]
        return (
            game.request is None
            and self._steps >= game.free_at
            and self._covers(game, self._bonus(mode))
        )

    def _is_full(self) -> bool:
        """Whether the planner, or this runner's share of it, accepts no question now."""
        limit = self._settings.most_waiting
        return self._steps < self._planner_free_at or (limit is not None and self._pending >= limit)

    def _bonus(self, mode: Mode) -> float:
        """Rounded to float32, as rewards are, so that the limit holds for what is learned from."""
        settings = self._settings
        return float(np.float32(settings.vision_bonus if mode == VISION else settings.text_bonus))

    def _covers(self, game: Game, bonus: float) -> bool:
        """Whether the episode's limit leaves room for the whole bonus."""
        limit = self._settings.most_an_episode
        return limit is None or game.paid + bonus <= limit

    def _pay(self, game: Game, bonus: float) -> float:
        """The bonus, or 0 when the limit leaves no room for all of it."""
        if not self._covers(game, bonus):
            return 0.0
        game.paid += bonus
        return bonus

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

    def _end(self, n: int, fate: Fate) -> None:
        kept = self._games[n].kept
        if kept is not None and kept.fate is None:
            kept.end(fate)
            self.open.discard(n)
            self._record.end(n, kept)


def _about(facts: GameFacts) -> str:
    """Room and tile: common prefix of the keys of equal questions."""
    tile = facts.x // TILE, (facts.y + FEET) // TILE
    return f"suggestion/{facts.group}/{facts.room}/{tile[0]}/{tile[1]}"


def _situation(about: str, evidence: Briefing, picture: bytes | None) -> str:
    """Equal for questions with interchangeable answers: equal evidence and picture."""
    digest = blake2b(evidence.to_json().encode(), digest_size=16)
    digest.update(picture or b"")
    return f"{about}/{digest.hexdigest()}"
