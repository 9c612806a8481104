"""Guidance of the N games of a runner: when a button is asked for, and what following it pays.

    bonus = guidance.choose(n, ...)       # the policy decided in environment n
    guidance.draw()                       # who asks after this step, and who draws it for that
    guidance.ask(n, ...)                  # after the step, where `drawn` says so
    guidance.hear(reply)                  # whenever one came
    guidance.tell(account)                # at the end of a fragment

Nothing is drawn from the games' random streams or read from a clock. An answer that comes when its
episode is over, or after a takeover began, is not kept. What it does to learning: ADR 0024.
"""

from collections.abc import Callable, Collection, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.briefing import Briefing
from rlaif.contracts.plans import Mode
from rlaif.game.motion.grid import FEET
from rlaif.game.motion.terrain import TILE
from rlaif.trainer.play.assistance_figures import AssistanceFigures
from rlaif.trainer.play.guidance.allowance import Allowance
from rlaif.trainer.play.guidance.draws import VISION, Draws
from rlaif.trainer.play.guidance.picture import question_picture
from rlaif.trainer.play.guidance.record import GuidanceRecord
from rlaif.trainer.play.guidance.suggestion import Fate, KeptSuggestion, Spot
from rlaif.trainer.play.planner_port import Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.settings.guidance import GuidanceSettings

REFUSED_REST = 1024
"""Steps without a question after one that was not taken, unless an answer comes before: a planner
that is full stays so until then, and each question costs a briefing, 2 ms, perhaps a picture."""

_STREAM = 0x47554944
"""Sets this random stream apart from the games': above the numbers that those are seeded with."""


def guidance_stream(drawn_from: Sequence[int]) -> np.random.Generator:
    """The random stream of a runner's questions, given what the streams of its games come from."""
    return np.random.default_rng([*drawn_from, _STREAM])


class Guidance:
    """Suggestions and bonuses of N environments; none of them sees another's.

    Attributes:
        drawn: Environment → whom it asks after the step that is played now.
        open: Environments with a suggestion that counts: the policy's choices there matter.
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
        """Guide N = `count` games of a runner."""
        self._settings = settings
        self._count = count
        self._draws = Draws(settings, count=count, rng=rng)
        self._planner = planner
        self._kept: list[KeptSuggestion | None] = [None] * count
        self._asked: list[tuple[PlannerQuestion, Spot] | None] = [None] * count
        self._apart: list[GameFacts | None] = [None] * count  # where what is kept does not count
        self._allowances = [Allowance(settings.most_an_episode) for _ in range(count)]
        self._steps = 0
        self._free_at = [0] * count
        self._planner_free_at = self._waiting = 0
        self._record = GuidanceRecord(runner)
        self.drawn: dict[int, Mode] = {}
        self.open: set[int] = set()

    def draw(self, taken_over: Collection[int] = ()) -> None:
        """Decide by chance which environments ask after this step; those taken over do not.

        One number is drawn for each of them, whatever they do.
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
        """Whether environment `n` has to draw the step that is played now."""
        return self.drawn.get(n) == VISION

    def last_llm_suggestion(self, n: int) -> KeptSuggestion | None:
        """The latest suggestion of this episode, over or not."""
        return self._kept[n]

    def paid(self, n: int) -> float:
        """What this episode of environment `n` was paid."""
        return self._allowances[n].paid

    def choose(self, n: int, action: int, facts: GameFacts, step: int) -> float:
        """The policy chose `action` itself, at `facts`; gives what it is paid for that.

        Not to be called for a step that a planner plays. `step` are the decision steps that the
        episode had before it.
        """
        kept = self._kept[n]
        if kept is None or n not in self.open or self._is_too_old(n, kept, step):
            return 0.0
        if facts is self._apart[n]:  # he has not moved
            return 0.0
        if not self._counts(n, kept, facts):
            self._apart[n] = facts
            return 0.0
        kept.compared += 1
        amount = 0.0
        if action == kept.button:
            bonus = self._bonus(kept.mode)
            amount = self._allowances[n].pay(bonus)
            kept.followed += 1
            kept.paid += amount
            self._record.pay(kept.mode, amount)
        most = self._settings.decisions
        if most is not None and (kept.followed or kept.compared >= most):
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

        `facts` and `step` are those after it, as the policy will decide there. Gives the question
        when it was taken. `evidence` and `screen` (`[144, 160, 3] uint8`) are read only if needed.
        """
        mode = self.drawn.get(n)
        if mode is None or self._is_full() or not facts.settled or facts.dead:
            return None
        about = _about(facts)
        if self._planner.refuses(mode, "suggestion", about):
            self._planner_free_at = self._steps + REFUSED_REST
            return None
        told = evidence()
        picture = question_picture(screen()) if mode == VISION else None
        question = PlannerQuestion(
            env=n,
            mode=mode,
            kind="suggestion",
            situation=_situation(about, told, picture),
            evidence=told,
            picture=picture,
            asked_step=step,
        )
        if not self._planner.ask(question):
            self._planner_free_at = self._steps + REFUSED_REST
            return None
        self._waiting += 1
        self._asked[n] = (question, Spot.of(facts))
        self._free_at[n] = self._steps + self._settings.rest_steps
        return question

    def hear(self, reply: PlannerReply) -> bool:
        """A question was answered; gives whether there is a suggestion that counts from now on."""
        self._waiting -= 1
        self._planner_free_at = self._steps
        n = reply.question.env
        asked = self._asked[n]
        spot = asked[1] if asked is not None and asked[0] is reply.question else None
        if spot is not None:
            self._asked[n] = None
        if reply.suggestion is None:
            self._record.fail(reply)
            return False
        self._record.give(reply.question.mode)
        if spot is None:
            self._record.end(n, KeptSuggestion.of(reply, fate="left"))
            return False
        self._end(n, "replaced")
        self._kept[n], self._apart[n] = KeptSuggestion.of(reply, spot), None
        self.open.add(n)
        return True

    def drop(self, n: int) -> None:
        """A planner takes over in environment `n`: what was suggested, or asked, counts no more."""
        self._asked[n] = None
        self._end(n, "left")

    def begin_episode(self, n: int) -> None:
        """Another episode starts in environment `n`; nothing of the one before it counts."""
        self.drop(n)
        self._kept[n] = None
        self._allowances[n] = Allowance(self._settings.most_an_episode)
        self._free_at[n] = 0

    def tell(self, account: AssistanceFigures) -> None:
        """Add what happened since the last call to an account."""
        self._record.tell(account)

    def state_dict(self) -> dict[str, Any]:
        """What decides how guidance goes on, as plain values; answers under way are not in it."""
        return {
            "rng": self._draws.state,
            "kept": [None if kept is None else kept.plain() for kept in self._kept],
            "paid": [allowance.paid for allowance in self._allowances],
            "rests": [max(0, free - self._steps) for free in self._free_at],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume in the middle of the episodes with what `state_dict` gave."""
        self._draws.resume(state["rng"])
        self._kept = [
            None if kept is None else KeptSuggestion.from_plain(kept) for kept in state["kept"]
        ]
        self.open = {n for n, kept in enumerate(self._kept) if kept and kept.fate is None}
        self._apart = [None] * self._count
        for allowance, paid in zip(self._allowances, state["paid"], strict=True):
            allowance.paid = paid
        self._free_at = [self._steps + rest for rest in state["rests"]]
        self._asked = [None] * self._count
        self._waiting = 0
        self.drawn = {}

    def _may_ask(self, n: int, mode: Mode) -> bool:
        return (
            self._asked[n] is None
            and self._steps >= self._free_at[n]
            and self._allowances[n].covers(self._bonus(mode))
        )

    def _is_full(self) -> bool:
        """Whether the planner, or this runner's share of it, takes no question now."""
        most = self._settings.most_waiting
        return self._steps < self._planner_free_at or (most is not None and self._waiting >= most)

    def _bonus(self, mode: Mode) -> float:
        return self._settings.vision_bonus if mode == VISION else self._settings.text_bonus

    def _is_too_old(self, n: int, kept: KeptSuggestion, step: int) -> bool:
        most = self._settings.expiry_steps
        if most is None or kept.age(step) <= most:
            return False
        self._end(n, "expired")
        return True

    def _counts(self, n: int, kept: KeptSuggestion, facts: GameFacts) -> bool:
        """Whether a decision at `facts` is compared with what is kept; may end it."""
        rules = self._settings
        if rules.reach_tiles is None:
            return True
        if not facts.settled:
            return False
        here = Spot.of(facts)
        if not here.shares_room_with(kept.spot):
            self._end(n, "left")
            return False
        return here.is_like(kept.spot, rules.reach_tiles)

    def _end(self, n: int, fate: Fate) -> None:
        kept = self._kept[n]
        if kept is not None and kept.fate is None:
            kept.end(fate)
            self.open.discard(n)
            self._record.end(n, kept)


def _about(facts: GameFacts) -> str:
    """Room and tile: what is told of a moment tells these, so equal questions share them."""
    tile = facts.x // TILE, (facts.y + FEET) // TILE
    return f"suggestion/{facts.group}/{facts.room}/{tile[0]}/{tile[1]}"


def _situation(about: str, evidence: Briefing, picture: bytes | None) -> str:
    """Equal for questions whose answers may be exchanged: those told and shown the same."""
    digest = blake2b(evidence.to_json().encode(), digest_size=16)
    digest.update(picture or b"")
    return f"{about}/{digest.hexdigest()}"
