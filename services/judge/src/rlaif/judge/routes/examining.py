"""Holds a route to questions that are known to be good: at the start, on doubt, while it fails.

A call that failed is to blame on the route when the known question fails as well, and on its own
request when that is answered. The questions are a judge's canary, as text and, for a judge that is
shown pictures, with a strip. The judge has to be able to read the answer; what it says does not
matter here and counts for no score.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from rlaif.judge.routes.condition import Condition, Trouble
from rlaif.judge.routes.errors import BrokenRouteError, FailedRequestError
from rlaif.judge.routes.lost_requests import LostRequests
from rlaif.judge.routes.silence import Silence
from rlaif.judge.routes.trouble_words import Advice, Cost, silence_sentence, trouble_sentence
from rlaif.judge.settings import PatienceSettings
from rlaif.llm.ports import (
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    LanguageModel,
    Modality,
    ModelError,
    OutageError,
    RefusedError,
    RouteWaitsError,
    ThrottledError,
    UnreadableAnswerError,
)

logger = logging.getLogger(__name__)

REQUEST_ROUNDS = 3
"""Rounds of tries after which a request that only ever fails is given up, on a route that is well.
A round is all tries of one call; between two of them the event waits."""

THROTTLED_ROUNDS = 10
"""Likewise for one that is answered 429 every time while others get through."""

MIN_VOTES, MAX_VOTES = 6, 20
"""The newest votes of which most may be lost before the route is in trouble: those of two segments
at first, and up to 20 later."""

_READABLE_SHARE = 0.2
_DOUBTS = 2
"""Failures in a row after which the route is held to the known question."""
_SECOND_LOOK_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_LONGEST_WAIT_SECONDS = 3.0
"""After which an event comes back to ask; short, so that the end of a trouble is noticed."""
_SILENT_SECONDS = 8.0
"""Silence that is told. With the pause between two looks it is below 15 s."""


OnQuestion = Callable[[CompletionRequest, ModelError | None], None]
"""Called after each known question, with its failure; None for an answer."""


async def _unknown() -> bool:
    return False


@dataclass(frozen=True)
class Examination:
    """How a route is examined; the pause between two looks grows with the trouble's age.

    Attributes:
        is_up: Whether the server answers anything while a call gets no answer.
        any_well: Whether any route of the panel can be asked; else all segments wait.
    """

    questions: Mapping[Modality, CompletionRequest]
    patience: PatienceSettings = field(default_factory=PatienceSettings)
    pause_seconds: float = 5.0
    advice: Advice = field(default_factory=Advice)
    on_question: OnQuestion = lambda request, error: None
    is_up: Callable[[], Awaitable[bool]] = _unknown
    any_well: Callable[[], bool] = lambda: True


class Examiner:
    """Knows how one route is."""

    def __init__(
        self,
        name: str,
        model: LanguageModel,
        examination: Examination,
        *,
        deadline: Callable[[], float] = lambda: 90.0,
        slowest: Callable[[], float | None] = lambda: None,
        on_answer: Callable[[float], None] = lambda seconds: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Times are in seconds: a question's `deadline` now, the `slowest` of the last answers."""
        self._name = name
        self._model = model
        self._examination = examination
        self._questions = examination.questions
        self.condition = Condition(examination.patience)
        self._deadline = deadline
        self._slowest = slowest
        self._on_answer = on_answer
        self._clock = clock
        self._sleep = sleep
        self._examinations: dict[Modality, asyncio.Task[Trouble | None]] = {}
        self._doubts: dict[Modality, int] = {}
        self._requests = LostRequests(name)
        self._silence = Silence()
        self._votes: deque[bool] = deque(maxlen=MAX_VOTES)
        self._lost: Trouble | None = None

    def broken(self, modality: Modality) -> str | None:
        """Why the route is out of use for requests of a kind; None when it is not."""
        trouble = self.condition.trouble(modality)
        if trouble is None or self.condition.broken(self._clock(), trouble) is None:
            return None
        return self._sentence(trouble)

    @property
    def unreadable(self) -> bool:
        """Whether the route is in trouble because its answers cannot be read."""
        trouble = self._trouble()
        return trouble is not None and trouble.kind == "unreadable"

    def voted(self, lost: UnreadableAnswerError | None) -> ModelError | None:
        """Note a vote; gives what a lost one is to end in while nearly all votes are lost.

        The known question may be read while the answers about segments cannot.
        """
        self._votes.append(lost is None)
        if len(self._votes) < MIN_VOTES or sum(self._votes) > _READABLE_SHARE * len(self._votes):
            self._lost = None
            return None
        if self._lost is None and lost is not None:
            self._lost = Trouble("unreadable", self._clock(), lost)
            logger.warning("%s", self._sentence(self._lost))
        return self._refusal(self._lost) if self._lost is not None and lost is not None else None

    def is_well(self, modality: Modality) -> bool:
        """Whether the route answered once and nothing is known against such a request now."""
        return self.condition.answered_once and self.condition.trouble(modality) is None

    def gate(self, request: CompletionRequest) -> None:
        """Let a request pass, unless it is known to get no answer.

        Raises:
            RouteWaitsError: The route is in trouble that may pass.
            BrokenRouteError: It has been for too long.
            FailedRequestError: The request was given up before.
        """
        trouble = self.condition.trouble(request.modality)
        if trouble is not None:
            raise self._refusal(trouble)
        if request in self._requests:
            raise FailedRequestError(f"{self._name} failed on this request before")

    async def blame(
        self, request: CompletionRequest, error: ModelError, began: float
    ) -> ModelError:
        """What a request that failed since `began` is to end in: its own fault, or the route's."""
        if isinstance(error, ThrottledError):
            return self._throttled(request, error, began)
        trouble = await self.examine(request.modality, since=began)
        if trouble is not None:
            return self._refusal(trouble)
        if isinstance(error, InvalidReplyError):
            return error  # another seed may do better
        if not isinstance(error, RefusedError) and self._requests.failed(request) < REQUEST_ROUNDS:
            return error
        return self._given_up(request, error)

    def _throttled(
        self, request: CompletionRequest, error: ThrottledError, began: float
    ) -> ModelError:
        # Some servers say 429 to a request that is larger than a whole minute's allowance.
        if not self.condition.answered_since(request.modality, began):
            return error
        if self._requests.failed(request) < THROTTLED_ROUNDS:
            return error
        return self._given_up(request, error)

    def _given_up(self, request: CompletionRequest, error: ModelError) -> FailedRequestError:
        self._requests.give_up(request)
        return FailedRequestError(
            f"{self._name} is well and fails on this request: {error}", error.status
        )

    def began(self) -> None:
        """A call goes out."""
        self._silence.called(self._clock())

    def ended(self, request: CompletionRequest, error: BaseException | None) -> None:
        """A call came back, with an answer (`error` None) or without."""
        self._silence.ended(self._clock(), error)
        if error is None:
            self.answered(request)
        elif isinstance(error, ModelError):
            self._doubt(request.modality, error)

    def answered(self, request: CompletionRequest) -> None:
        """An answer arrived, in time or late."""
        before = self.condition.worst()
        self.condition.answered(self._clock(), request.modality)
        self._doubts.pop(request.modality, None)
        self._requests.answered(request)
        if before is not None and self.condition.worst() is None:
            logger.info("route %s answers again", self._name)

    async def run(self, *, at_start: bool = True) -> None:
        """Look at the start, unless not wanted, and again and again while there is trouble."""
        while True:
            began = self._clock()
            unknown = at_start and not self.condition.known
            if unknown or self.condition.worst() is not None:
                try:
                    await self._examine_all()
                except Exception:
                    # Whatever it is, the route must be looked at again.
                    logger.exception("route %s cannot be examined", self._name)
            # A question that hung has taken its part of the pause already.
            took = self._clock() - began
            await self._sleep(max(_SECOND_LOOK_SECONDS, self._pause() - took))

    def _pause(self) -> float:
        trouble, least = self.condition.worst(), self._examination.pause_seconds
        if trouble is None:
            return least
        asked = trouble.error.retry_after if isinstance(trouble.error, OutageError) else None
        age = self._clock() - trouble.since
        return max(least, asked or 0.0, min(_LONGEST_PAUSE_SECONDS, age / 30))

    async def examine(self, modality: Modality, *, since: float) -> Trouble | None:
        """How the route is for requests of a kind; asks unless it answered one since then."""
        if self.condition.answered_since(modality, since):
            return None
        if modality not in self._questions:
            return self.condition.trouble(modality)
        task = self._examinations.get(modality)
        if task is None or task.done():
            task = self._examinations[modality] = asyncio.ensure_future(self._examine(modality))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End the looks that are still under way."""
        for task in self._examinations.values():
            task.cancel()
        await asyncio.gather(*self._examinations.values(), return_exceptions=True)

    def check(self) -> str | None:
        """One sentence on what is wrong, why and what to do; None when nothing is known to be."""
        trouble = self._trouble()
        if trouble is not None:
            return self._sentence(trouble)
        silent = self._silence.seconds(self._clock())
        if silent is None or silent <= max(_SILENT_SECONDS, 2 * (self._slowest() or 0.0)):
            return None
        return silence_sentence(self._name, silent)

    def _trouble(self) -> Trouble | None:
        return self.condition.worst() or self._lost

    async def _examine_all(self) -> None:
        # Who answers pictures answers text, so the harder question comes first.
        modality: Modality = "pictures" if "pictures" in self._questions else "text"
        await self.examine(modality, since=self._clock())

    async def _examine(self, modality: Modality) -> Trouble | None:
        # Where text fails there is no need to wait for what becomes of a picture.
        if modality == "pictures" and self.condition.trouble("text") is not None:
            trouble = await self._examine("text")
            if trouble is not None:
                return trouble
        error = await self._ask_twice(modality)
        if error is None:
            return None
        before = self.condition.worst()
        if modality == "pictures" and (plain := await self._ask_twice("text")) is not None:
            modality, error = "text", plain
        trouble = self.condition.failed(self._clock(), modality, error)
        if isinstance(error, CallTimeoutError) and error.fault == "total_timeout":
            error.is_slow = await self._examination.is_up()
        if before is None or (before.kind, before.blind) != (trouble.kind, trouble.blind):
            logger.warning("%s", self._sentence(trouble))
        return trouble

    async def _ask_twice(self, modality: Modality) -> ModelError | None:
        """Why the known question gets no answer; a single failure may be chance."""
        error = await self._ask(self._questions[modality])
        if error is None or isinstance(error, CallTimeoutError | ThrottledError):
            return error
        await self._sleep(_SECOND_LOOK_SECONDS)
        return await self._ask(self._questions[modality])

    async def _ask(self, question: CompletionRequest) -> ModelError | None:
        started, deadline = self._clock(), self._deadline()
        self.began()
        error: ModelError | None = None
        try:
            async with asyncio.timeout(deadline):
                question.check(await self._model.complete(question))
        except TimeoutError:
            error = CallTimeoutError(f"no answer in {deadline:.0f} s")
        except ModelError as failure:
            error = failure
        except BaseException as failure:
            self._silence.ended(self._clock(), failure)
            raise
        self._silence.ended(self._clock(), error)
        seconds = self._clock() - started
        if error is None:
            self._on_answer(seconds)
            self.answered(question)
        self._examination.on_question(question, error)
        return error

    def _doubt(self, modality: Modality, error: ModelError) -> None:
        """Count a failure; after some in a row look, in the background."""
        lately = self._clock() - _SILENT_SECONDS
        if isinstance(error, ThrottledError) and self.condition.answered_since(modality, lately):
            return  # it only wants fewer calls
        self._doubts[modality] = self._doubts.get(modality, 0) + 1
        if self._doubts[modality] < _DOUBTS or modality not in self._questions:
            return
        self._doubts[modality] = 0
        task = self._examinations.get(modality)
        if self.condition.trouble(modality) is None and (task is None or task.done()):
            self._examinations[modality] = asyncio.ensure_future(self._examine(modality))

    def _refusal(self, trouble: Trouble) -> OutageError | BrokenRouteError:
        now = self._clock()
        reason = self.condition.broken(now, trouble)
        if reason is not None:
            return BrokenRouteError(self._sentence(trouble), reason)
        wait = min(_LONGEST_WAIT_SECONDS, (now - trouble.since) / 4)
        return RouteWaitsError(self._sentence(trouble), wait)

    def _sentence(self, trouble: Trouble) -> str:
        cost: Cost = "scored without"
        if self.condition.broken(self._clock(), trouble) is None:
            cost = "wait"
        elif not self._examination.any_well():
            cost = "all wait"
        elif trouble.kind == "unreadable":
            cost = "provisional"
        return trouble_sentence(self._name, trouble, self._examination.advice, cost)
