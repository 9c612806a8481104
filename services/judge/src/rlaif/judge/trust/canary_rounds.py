"""Periodically asks the judges canaries, and excludes those that fail them."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice

from rlaif.contracts.judging.scores import PROGRESS, CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.judge.evidence.strip import Frame, draw
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import JudgeCall, verdict_request
from rlaif.judge.panel.panel import Excluded, PanelResult
from rlaif.judge.panel.schema import CutOffAnswerError, read_answer
from rlaif.judge.rubric.judges import Judge, briefed
from rlaif.judge.trust.canaries import Canary, canaries, in_turn
from rlaif.judge.trust.exclusion import ENOUGH, KnownAnswer, Record, update_exclusion
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
"""Called with judge, criterion and record after each answer to a control question."""

_MAX_SECONDS = 30.0
"""Maximum delay of segments by the canaries of a judge, unless its model is slow."""
_TIMES_AS_OFTEN = 10
"""Factor of the rate at which judges with few answers, or excluded ones, are asked."""


class CanaryRounds:
    """Schedules rounds of canaries."""

    def __init__(
        self,
        judges: tuple[Judge, ...],
        routes: Mapping[str, Route],
        every: int,
        *,
        max_tokens: int,
        on_known: OnKnown = lambda judge, criterion, record: None,
        on_call: Callable[[JudgeCallRecord], None] = lambda record: None,
    ) -> None:
        """`judges` have all of their criteria; `routes` are by judge name.

        A round takes place after `every` segments; 0 disables them.
        """
        self._routes = routes
        self._every = every
        self._max_tokens = max_tokens
        self._on_known = on_known
        self._on_call = on_call
        self._turns = {judge.name: _Turn(judge) for judge in judges}
        self._asking = asyncio.Lock()
        self._judge_of = {c.name: judge.name for judge in judges for c in judge.criteria}
        self._records = {criterion: Record() for criterion in self._judge_of}

    def excluded(self) -> Excluded:
        """Judge → criteria on which its votes do not count, for judges with such criteria."""
        found: dict[str, set[str]] = {}
        for criterion, record in self._records.items():
            if record.why_not is not None:
                found.setdefault(self._judge_of[criterion], set()).add(criterion)
        return {judge: frozenset(criteria) for judge, criteria in found.items()}

    def check(self, judge: str) -> str | None:
        """Message about the exclusions of a judge and the fix; None without exclusions."""
        reasons = [
            f"{criterion}: {record.why_not}"
            for criterion, record in self._records.items()
            if self._judge_of[criterion] == judge and record.why_not is not None
        ]
        if not reasons:
            return None
        return (
            f"{judge} is excluded from {'; '.join(reasons)}. Its votes on that do not count, and "
            "it compares no pairs, until it answers the control questions correctly. Check the "
            "model behind its URL, and that it follows the prompt"
        )

    async def before_segment(self) -> None:
        """Ask the judges that are due concurrently, for at most 30 seconds unless they are slow.

        A judge is asked more often if it is excluded, could not be asked, has given few
        answers, or was wrong on half of the last ones.
        """
        if not self._every:
            return
        async with self._asking:
            due = [turn for turn in self._turns.values() if turn.segments_left <= 0]
            for turn in self._turns.values():
                turn.segments_left -= 1
            await asyncio.gather(*(self._ask(turn) for turn in due))

    def after_segment(self, found: PanelResult, record: ScoreRecord) -> None:
        """Compare the results of a segment with the levels known from RAM."""
        for name, score in found.heard.items():
            # Progress on the quest and progress by the anchors have different scales.
            unclear = name == PROGRESS and record.quest is None
            known = None if unclear else record.known_level(name)
            if known is not None and isinstance(score, CriterionScore):
                given = round(2 * score.value)
                self._records[name].truths.append(KnownAnswer(known, given, known == given))
                self._update(name)

    async def _ask(self, turn: "_Turn") -> None:
        """Ask one judge its next canaries; an outage has no effect on its record."""
        judge, answered = turn.judge, False
        slowest = self._routes[judge.name].stats.slowest_seconds() or 0.0
        with contextlib.suppress(TimeoutError):
            # A slow model gets the time of as many calls, one after the other.
            async with asyncio.timeout(max(_MAX_SECONDS, turn.few * slowest)):
                answered = await self._ask_next(turn)
        asked = (len(self._records[c.name].canaries) for c in judge.criteria)
        is_known = turn.over or min(asked) >= ENOUGH
        settled = answered and is_known and not turn.suspected and judge.name not in self.excluded()
        turn.segments_left = self._every // (1 if settled else _TIMES_AS_OFTEN)

    async def _ask_next(self, turn: "_Turn") -> bool:
        """Ask the next canary; returns whether the judge could be asked."""
        few = turn.next_few()
        try:
            graded = await asyncio.gather(*(self._graded(turn.judge, canary) for canary in few))
        except ModelError as error:
            logger.info("canaries of %s failed: %s", turn.judge.name, error)
            return False
        turn.at += len(few)
        answers: dict[str, list[KnownAnswer]] = {}
        for each in graded:
            for criterion, answer in each.items():
                answers.setdefault(criterion, []).append(answer)
        turn.suspected = any(map(_mostly_wrong, answers.values()))
        for criterion, found in answers.items():
            self._records[criterion].canaries.extend(found)
            self._update(criterion)
        return True

    def _update(self, criterion: str) -> None:
        record, judge = self._records[criterion], self._judge_of[criterion]
        before = record.why_not
        update_exclusion(record, by_canaries=self._every > 0)
        if record.why_not is not None and before is None:
            logger.warning(
                "judge %s excluded for criterion %s: %s", judge, criterion, record.why_not
            )
        elif record.why_not is None and before is not None:
            logger.info("judge %s included again for criterion %s", judge, criterion)
        self._on_known(judge, criterion, record)

    async def _graded(self, judge: Judge, canary: Canary) -> dict[str, KnownAnswer]:
        """Answers by criterion; wrong if a complete reply cannot be parsed."""
        ready = briefed(judge, canary.evidence.end.game)
        strip = canary_strip(canary) if ready.pictures else None
        request = canary_request(ready, canary, strip, max_tokens=self._max_tokens)
        call = JudgeCall(judge, self._routes[judge.name], 0, request, self._record)
        try:
            # Never from the cache: current behaviour is tested.
            found = await call.complete(retry=False)
        except CutOffAnswerError:
            return {}  # a vote would be asked for again with twice the tokens
        except UnreadableAnswerError:
            return canary.missed(ready)
        except FaultyReplyError:
            return {}  # the outcome says nothing about the judge
        await call.record(found)
        return canary.grade(ready, read_answer(ready, found.answer.text))

    async def _record(self, record: JudgeCallRecord) -> None:
        self._on_call(record)


class _Turn:
    """Position of one judge in its sequence of canaries.

    Attributes:
        at: Number of asked canaries.
        few: Number of canaries that it is asked at once.
        segments_left: Segments until it is asked again.
        suspected: Whether about half of the last answers were wrong.
    """

    def __init__(self, judge: Judge) -> None:
        every = canaries()
        self.judge = judge
        self.at = 0
        self.segments_left = 0
        self.suspected = False
        self._row = in_turn(briefed(judge, every[0].evidence.end.game), every)
        # About eight for all judges together.
        self.few = min(len(self._row), 1 + len(judge.criteria))

    @property
    def over(self) -> bool:
        """Whether every canary was asked once."""
        return self.at >= len(self._row)

    def next_few(self) -> list[Canary]:
        start = self.at % max(1, len(self._row))
        return list(islice(cycle(self._row), start, start + self.few))


def _mostly_wrong(answers: Sequence[KnownAnswer]) -> bool:
    wrong = sum(not answer.right for answer in answers)
    return wrong >= 2 and 2 * wrong >= len(answers)


def canary_request(
    judge: Judge, canary: Canary, strip: bytes | None, *, max_tokens: int
) -> CompletionRequest:
    """The request for a canary, in the form of one for a segment; `judge` is briefed."""
    prompt = prompts.messages(judge, canary.evidence, strip, variant=0)
    return verdict_request(judge, prompt, max_tokens=max_tokens)


def known_questions(judge: Judge, *, max_tokens: int) -> dict[Modality, CompletionRequest]:
    """Probe requests that a healthy route of the judge answers, by modality."""
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
