"""Asks the judges some canaries from time to time, and excludes those that fail them."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice

from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.judge.evidence.strip import Frame, draw
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import JudgeCall, verdict_request
from rlaif.judge.panel.panel import Excluded, PanelResult
from rlaif.judge.panel.schema import read_answer
from rlaif.judge.rubric.judges import PROGRESS, Judge, briefed
from rlaif.judge.settings import TrustSettings
from rlaif.judge.trust.canaries import Canary, canaries, in_turn
from rlaif.judge.trust.exclusion import ENOUGH, Exclusions, KnownAnswer, Record
from rlaif.llm.ports import (
    CompletionRequest,
    FaultyReplyError,
    Modality,
    ModelError,
    UnreadableAnswerError,
)
from rlaif.llm.route import Route

logger = logging.getLogger(__name__)

OnKnown = Callable[[str, str, Record], None]
"""Called with judge, criterion and record after each answer to a known question."""

_MAX_SECONDS = 30.0
"""How long segments may wait for the canaries of a judge."""
_TIMES_AS_OFTEN = 10
"""How much more often a judge is asked while little is known of it, or it is excluded."""


class CanaryRounds:
    """Asks canaries, round after round."""

    def __init__(
        self,
        judges: tuple[Judge, ...],
        routes: Mapping[str, Route],
        settings: TrustSettings,
        *,
        max_tokens: int,
        on_known: OnKnown = lambda judge, criterion, record: None,
        on_call: Callable[[JudgeCallRecord], None] = lambda record: None,
    ) -> None:
        """`judges` have all of their criteria; `routes` are by name of the judge."""
        self._judges = {judge.name: judge for judge in judges}
        self._routes = routes
        self._settings = settings
        self._max_tokens = max_tokens
        self._on_known = on_known
        self._on_call = on_call
        self._turns = {judge.name: _Turn(judge) for judge in judges}
        self._until_next = dict.fromkeys(self._turns, 0)
        self._suspected: set[str] = set()
        self._asking = asyncio.Lock()
        self._criteria = {c.name: judge.name for judge in judges for c in judge.criteria}
        self._exclusions = Exclusions(self._criteria, settings)

    def excluded(self) -> Excluded:
        """Judge → criteria on which its votes do not count; only judges that have some."""
        return self._exclusions.excluded()

    def check(self, judge: str) -> str | None:
        """A message on what a judge is excluded from, and what to do; None if from nothing."""
        reasons = self._exclusions.reasons(judge)
        if not reasons:
            return None
        found = "; ".join(f"{criterion}: {reason}" for criterion, reason in reasons.items())
        return (
            f"{judge} is excluded from {found}. Its votes on that do not count until it answers "
            "the control questions correctly; is it the right model, and does it follow the prompt?"
        )

    async def before_segment(self) -> None:
        """Ask some canaries when due: before the first segment, then every so many segments.

        A judge is asked ten times as often while it is excluded, could not be asked, gave too few
        answers, or was wrong on half of the last ones.
        """
        if not self._settings.by_canaries:
            return
        async with self._asking:
            due = [name for name, left in self._until_next.items() if left <= 0]
            for name in self._until_next:
                self._until_next[name] -= 1
            await asyncio.gather(*(self._ask_when_due(self._judges[name]) for name in due))

    def after_segment(self, found: PanelResult, record: ScoreRecord) -> None:
        """Compare the results of a segment with what the RAM determines."""
        for name, score in found.heard.items():
            # Progress on the quest and progress by the anchors have different scales.
            unclear = name == PROGRESS.name and record.quest is None
            known = None if unclear else record.known_level(name)
            if known is not None and isinstance(score, CriterionScore):
                before = self._exclusions.records[name].why_not
                self._exclusions.add_truth(name, known, round(2 * score.value))
                self._report(name, before)

    async def ask(self) -> None:
        """Ask all judges their next canaries; an outage changes nothing."""
        await asyncio.gather(*(self._ask_judge(judge) for judge in self._judges.values()))

    async def _ask_when_due(self, judge: Judge) -> None:
        answered = False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_MAX_SECONDS):
                answered = await self._ask_judge(judge)
        doubtful = self.excluded().keys() | self._suspected
        settled = answered and self._is_known(judge) and judge.name not in doubtful
        self._until_next[judge.name] = self._settings.every // (1 if settled else _TIMES_AS_OFTEN)

    def _is_known(self, judge: Judge) -> bool:
        """Whether there are enough answers on everything that the judge is asked."""
        answers = (len(self._exclusions.records[c.name].canaries) for c in judge.criteria)
        return self._turns[judge.name].over or min(answers) >= ENOUGH

    async def _ask_judge(self, judge: Judge) -> bool:
        """Ask one judge its next canaries; returns whether it could be asked."""
        turn = self._turns[judge.name]
        few = turn.next_few()
        try:
            graded = await asyncio.gather(*(self._graded(judge, canary) for canary in few))
        except ModelError as error:
            logger.info("canaries of %s failed: %s", judge.name, error)
            return False
        turn.asked(len(few))
        answers: dict[str, list[KnownAnswer]] = {}
        for each in graded:
            for criterion, answer in each.items():
                answers.setdefault(criterion, []).append(answer)
        self._suspected.discard(judge.name)
        if any(map(_mostly_wrong, answers.values())):
            self._suspected.add(judge.name)
        for criterion, found in answers.items():
            before = self._exclusions.records[criterion].why_not
            self._exclusions.add_canaries(criterion, found)
            self._report(criterion, before)
        return True

    def _report(self, criterion: str, before: str | None) -> None:
        record, judge = self._exclusions.records[criterion], self._criteria[criterion]
        if record.why_not is not None and before is None:
            logger.warning(
                "judge %s excluded for criterion %s: %s", judge, criterion, record.why_not
            )
        elif record.why_not is None and before is not None:
            logger.info("judge %s included again for criterion %s", judge, criterion)
        self._on_known(judge, criterion, record)

    async def _graded(self, judge: Judge, canary: Canary) -> dict[str, KnownAnswer]:
        """Answers by criterion; wrong if the reply cannot be parsed."""
        ready = briefed(judge, canary.evidence.end.game)
        strip = canary_strip(canary) if ready.pictures else None
        request = canary_request(ready, canary, strip, max_tokens=self._max_tokens)
        call = JudgeCall(judge, self._routes[judge.name], 0, request, self._record)
        try:
            # Never from the cache: current behaviour is tested.
            found = await call.complete(retry=False)
        except UnreadableAnswerError:
            return canary.missed(ready)
        except FaultyReplyError:
            return {}  # of this one question
        await call.record(found)
        return canary.grade(ready, read_answer(ready, found.answer.text))

    async def _record(self, record: JudgeCallRecord) -> None:
        self._on_call(record)


class _Turn:
    """Position of one judge in its sequence of canaries."""

    def __init__(self, judge: Judge) -> None:
        every = canaries()
        game = every[0].evidence.end.game
        self._row = in_turn(briefed(judge, game), every)
        # All judges together are asked about eight.
        self._few = min(len(self._row), 1 + len(judge.criteria))
        self._at = 0

    @property
    def over(self) -> bool:
        """Whether every canary was asked once."""
        return self._at >= len(self._row)

    def next_few(self) -> list[Canary]:
        start = self._at % max(1, len(self._row))
        return list(islice(cycle(self._row), start, start + self._few))

    def asked(self, number: int) -> None:
        self._at += number


def _mostly_wrong(answers: Sequence[KnownAnswer]) -> bool:
    """Whether a few answers are a reason to ask more."""
    wrong = sum(not answer.right for answer in answers)
    return wrong >= 2 and 2 * wrong >= len(answers)


def canary_request(
    judge: Judge, canary: Canary, strip: bytes | None, *, max_tokens: int
) -> CompletionRequest:
    """A canary in the form of a request about a segment; `judge` is briefed."""
    prompt = prompts.messages(judge, canary.evidence, strip, variant=0)
    return verdict_request(judge, prompt, max_tokens=max_tokens)


def known_questions(judge: Judge, *, max_tokens: int) -> dict[Modality, CompletionRequest]:
    """Requests that a healthy route of the judge answers, by modality."""
    canary = canaries()[0]
    judge = briefed(judge, canary.evidence.end.game)
    questions: dict[Modality, CompletionRequest] = {
        "text": canary_request(judge, canary, None, max_tokens=max_tokens)
    }
    if judge.pictures:
        strip = canary_strip(canary)
        questions["pictures"] = canary_request(judge, canary, strip, max_tokens=max_tokens)
    return questions


def canary_strip(canary: Canary) -> bytes:
    """Grey pictures with the path of a canary."""
    path = canary.evidence.movement.path or ()
    return draw([Frame(None, path[:1]), Frame(None, path)])
