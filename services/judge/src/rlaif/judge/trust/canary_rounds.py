"""Asks the canaries now and then, and says which judges are not to be believed."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping

from rlaif.contracts.scores import JudgeCallRecord
from rlaif.judge.evidence.strip import Frame, draw
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import CallLog, verdict_request
from rlaif.judge.panel.schema import InvalidAnswerError, read_answer
from rlaif.judge.routes.ports import CompletionRequest, Modality, ModelError
from rlaif.judge.routes.route import Route
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.settings import CanarySettings
from rlaif.judge.trust.canaries import CANARIES, Canary, CanaryResult, grade

logger = logging.getLogger(__name__)

OnCanaryResult = Callable[[str, CanaryResult, bool], None]
"""Called with each judge's result: its name, the result, whether it is believed."""

_MOST_SECONDS = 30.0
"""For how long segments may wait for a judge's canaries."""
_SOONER = 10
"""Times as often a judge is asked while it is not believed, or could not be asked."""


class CanaryRounds:
    """Asks the judges the canaries, round after round; knows who failed the last one."""

    def __init__(
        self,
        judges: tuple[Judge, ...],
        routes: Mapping[str, Route],
        settings: CanarySettings,
        *,
        max_tokens: int,
        on_result: OnCanaryResult = lambda name, result, believed: None,
        on_call: Callable[[JudgeCallRecord], None] = lambda record: None,
    ) -> None:
        """Watch `judges`, which must have all their criteria, by the `routes` of their names."""
        self._judges = judges
        self._routes = routes
        self._settings = settings
        self._max_tokens = max_tokens
        self._on_result = on_result
        self._on_call = on_call
        self._until_next = dict.fromkeys((judge.name for judge in judges), 0)
        self._asking = asyncio.Lock()
        self._believed: dict[str, bool] = {}

    def distrusted(self) -> frozenset[str]:
        """Names of the judges that failed their last canaries."""
        return frozenset(name for name, believed in self._believed.items() if not believed)

    async def before_segment(self) -> None:
        """Ask the canaries when it is time: before the first segment, then after every so many.

        While a judge is not believed, or could not be asked, it is asked again ten times as often.
        A route that does not answer holds no segment up for long.
        """
        if not self._settings.every:
            return
        async with self._asking:
            due = [judge for judge in self._judges if self._until_next[judge.name] <= 0]
            for name in self._until_next:
                self._until_next[name] -= 1
            await asyncio.gather(*(self._ask_when_due(judge) for judge in due))

    async def _ask_when_due(self, judge: Judge) -> None:
        answered = False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_MOST_SECONDS):
                answered = await self._ask_judge(judge)
        often = 1 if answered and judge.name not in self.distrusted() else _SOONER
        self._until_next[judge.name] = self._settings.every // often

    async def ask(self) -> None:
        """Ask all judges all canaries that concern them. An outage changes nobody's standing."""
        await asyncio.gather(*(self._ask_judge(judge) for judge in self._judges))

    async def _ask_judge(self, judge: Judge) -> bool:
        """Ask one judge; whether it could be asked."""
        names = {criterion.name for criterion in judge.criteria}
        mine = [canary for canary in CANARIES if names & set(canary.levels)]
        try:
            answers = await asyncio.gather(*(self._levels(judge, canary) for canary in mine))
        except ModelError as error:
            logger.info("no canary answer of %s: %s", judge.name, error)
            return False
        result = grade(judge, zip(mine, answers, strict=True))
        if result.accuracy is None:
            return True
        believed = result.accuracy >= self._settings.least_accuracy and not result.constant
        if believed != self._believed.get(judge.name, True):
            logger.log(
                logging.WARNING if not believed else logging.INFO,
                "judge %s is %s: %d of %d canaries right%s",
                judge.name,
                "believed again" if believed else "not believed",
                result.right,
                result.answered,
                f"; always the same for {', '.join(result.constant)}" if result.constant else "",
            )
        self._believed[judge.name] = believed
        self._on_result(judge.name, result, believed)
        return True

    async def _levels(self, judge: Judge, canary: Canary) -> Mapping[str, int | None] | None:
        """The judge's levels; None when its answer cannot be read."""
        request = canary_request(judge, canary, canary_strip(canary), max_tokens=self._max_tokens)
        log = CallLog(judge, self._routes[judge.name], 0, request, self._note)
        answer, seconds = await log.route.complete(request, on_failure=log.failed, once=True)
        try:
            verdict = read_answer(judge, answer.text)
        except InvalidAnswerError as error:
            await log.unreadable(error, answer, seconds)
            return None
        await log.write("ok", seconds, answer=answer)
        return verdict.levels

    async def _note(self, record: JudgeCallRecord) -> None:
        self._on_call(record)


def canary_request(
    judge: Judge, canary: Canary, strip: bytes | None, *, max_tokens: int
) -> CompletionRequest:
    """A canary as a judge is asked about a segment."""
    prompt = prompts.messages(judge, canary.evidence, strip, variant=0)
    return verdict_request(judge, prompt, max_tokens=max_tokens)


def known_questions(judge: Judge, *, max_tokens: int) -> dict[Modality, CompletionRequest]:
    """What the judge's route must be able to answer, with pictures when it is shown some."""
    canary = CANARIES[0]
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
