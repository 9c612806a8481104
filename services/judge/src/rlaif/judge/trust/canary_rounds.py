"""Asks the canaries now and then, a few at a time, and says which judges are not to be believed."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice

from rlaif.contracts.scores import CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.judge.evidence.strip import Frame, draw
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import CallLog, verdict_request
from rlaif.judge.panel.panel import PanelResult
from rlaif.judge.panel.schema import read_answer
from rlaif.judge.routes.route import Route
from rlaif.judge.rubric.judges import PROGRESS, Judge, briefed
from rlaif.judge.settings import TrustSettings
from rlaif.judge.trust.belief import ENOUGH, Beliefs, KnownAnswer, Record
from rlaif.judge.trust.canaries import Canary, canaries, in_turn
from rlaif.llm.ports import (
    CompletionRequest,
    FaultyReplyError,
    Modality,
    ModelError,
    UnreadableAnswerError,
)

logger = logging.getLogger(__name__)

OnBelief = Callable[[str, str, Record], None]
"""Called with a judge, a criterion and its record after each answer to what is known."""

_MOST_SECONDS = 30.0
"""For how long segments may wait for a judge's canaries."""
_SOONER = 10
"""Times as often a judge is asked while little is known of it, or it is not believed."""


class CanaryRounds:
    """Asks the judges the canaries, round after round; knows on what each is believed."""

    def __init__(
        self,
        judges: tuple[Judge, ...],
        routes: Mapping[str, Route],
        settings: TrustSettings,
        *,
        max_tokens: int,
        on_belief: OnBelief = lambda judge, criterion, record: None,
        on_call: Callable[[JudgeCallRecord], None] = lambda record: None,
    ) -> None:
        """Watch `judges`, which must have all their criteria, by the `routes` of their names."""
        self._judges = judges
        self._routes = routes
        self._settings = settings
        self._max_tokens = max_tokens
        self._on_belief = on_belief
        self._on_call = on_call
        self._turns = {judge.name: _Turn(judge) for judge in judges}
        self._until_next = dict.fromkeys(self._turns, 0)
        self._suspected: set[str] = set()
        self._asking = asyncio.Lock()
        self._beliefs = Beliefs(
            {criterion.name: judge.name for judge in judges for criterion in judge.criteria},
            settings,
        )

    def distrusted(self) -> Mapping[str, frozenset[str]]:
        """Judge → criteria on which its votes do not count; only judges that have some."""
        return self._beliefs.distrusted()

    def check(self, judge: str) -> str | None:
        """One sentence on what a judge is not believed on, why, and what to do; None when it is."""
        why = self._beliefs.why_not(judge)
        if not why:
            return None
        found = "; ".join(f"{criterion}: {reason}" for criterion, reason in why.items())
        return (
            f"{judge} is not believed on {found}. Its votes on that do not count, and segments "
            "scored meanwhile are judged again once it is; is it the right model, and does it "
            "follow the prompt?"
        )

    async def before_segment(self) -> None:
        """Ask some canaries when it is time: before the first segment, then after every so many.

        While a judge is not believed, could not be asked, gave too few answers for a verdict, or
        was wrong on half of its last ones, it is asked ten times as often. A route that does not
        answer holds no segment up for long.
        """
        if not self._settings.by_canaries:
            return
        async with self._asking:
            due = [judge for judge in self._judges if self._until_next[judge.name] <= 0]
            for name in self._until_next:
                self._until_next[name] -= 1
            await asyncio.gather(*(self._ask_when_due(judge) for judge in due))

    def after_segment(self, found: PanelResult, record: ScoreRecord) -> None:
        """Hold what the judges said of a segment against what the RAM is sure of."""
        for name, score in found.heard.items():
            # Progress on the quest and progress by the anchors are known on two scales.
            unclear = name == PROGRESS.name and record.quest is None
            known = None if unclear else record.known_level(name)
            if known is not None and isinstance(score, CriterionScore):
                before = self._beliefs.records[name].why_not
                self._beliefs.heard(name, known, round(2 * score.value))
                self._tell(name, before)

    async def ask(self) -> None:
        """Ask all judges their next canaries. An outage changes nobody's standing."""
        await asyncio.gather(*(self._ask_judge(judge) for judge in self._judges))

    async def _ask_when_due(self, judge: Judge) -> None:
        answered = False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_MOST_SECONDS):
                answered = await self._ask_judge(judge)
        doubtful = self.distrusted().keys() | self._suspected
        settled = answered and self._is_known(judge) and judge.name not in doubtful
        self._until_next[judge.name] = self._settings.every // (1 if settled else _SOONER)

    def _is_known(self, judge: Judge) -> bool:
        """Whether enough was asked for a verdict on everything that the judge is asked."""
        answers = (len(self._beliefs.records[c.name].canaries) for c in judge.criteria)
        return self._turns[judge.name].over or min(answers) >= ENOUGH

    async def _ask_judge(self, judge: Judge) -> bool:
        """Ask one judge its next few; whether it could be asked."""
        turn = self._turns[judge.name]
        few = turn.next_few()
        try:
            graded = await asyncio.gather(*(self._graded(judge, canary) for canary in few))
        except ModelError as error:
            logger.info("no canary answer of %s: %s", judge.name, error)
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
            before = self._beliefs.records[criterion].why_not
            self._beliefs.told(criterion, found)
            self._tell(criterion, before)
        return True

    def _tell(self, criterion: str, before: str | None) -> None:
        record = self._beliefs.records[criterion]
        judge = next(j.name for j in self._judges if criterion in {c.name for c in j.criteria})
        if record.why_not is not None and before is None:
            logger.warning("judge %s is not believed on %s: %s", judge, criterion, record.why_not)
        elif record.why_not is None and before is not None:
            logger.info("judge %s is believed on %s again", judge, criterion)
        self._on_belief(judge, criterion, record)

    async def _graded(self, judge: Judge, canary: Canary) -> dict[str, KnownAnswer]:
        """How the judge did, by criterion; wrong when its answer cannot be read."""
        ready = briefed(judge, canary.evidence.end.game)
        strip = canary_strip(canary) if ready.pictures else None
        request = canary_request(ready, canary, strip, max_tokens=self._max_tokens)
        # Never from the cache: what is tested is how it answers now.
        log = CallLog(judge, self._routes[judge.name], 0, request, self._note)
        try:
            answer, seconds = await log.route.complete(request, on_failure=log.failed, once=True)
        except UnreadableAnswerError:
            return canary.missed(ready)
        except FaultyReplyError:
            return {}  # of this one question; the others may be answered
        await log.write("ok", seconds, answer=answer)
        return canary.grade(ready, read_answer(ready, answer.text))

    async def _note(self, record: JudgeCallRecord) -> None:
        self._on_call(record)


class _Turn:
    """Where one judge is in the row of its canaries."""

    def __init__(self, judge: Judge) -> None:
        every = canaries()
        game = every[0].evidence.end.game
        self._row = in_turn(briefed(judge, game), every)
        # As many as one of each level of some criteria; all judges together ask about eight.
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
    """Whether a few answers are a reason to look closer, if not yet for a verdict."""
    wrong = sum(not answer.right for answer in answers)
    return wrong >= 2 and 2 * wrong >= len(answers)


def canary_request(
    judge: Judge, canary: Canary, strip: bytes | None, *, max_tokens: int
) -> CompletionRequest:
    """A canary as a briefed judge is asked about a segment."""
    prompt = prompts.messages(judge, canary.evidence, strip, variant=0)
    return verdict_request(judge, prompt, max_tokens=max_tokens)


def known_questions(judge: Judge, *, max_tokens: int) -> dict[Modality, CompletionRequest]:
    """What the judge's route must be able to answer, with pictures when it is shown some."""
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
    """Grey frames with the path of a canary, for a judge that wants pictures."""
    path = canary.evidence.movement.path or ()
    return draw([Frame(None, path[:1]), Frame(None, path)])
