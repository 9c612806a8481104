import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from rlaif.judge.routes import Advice
from rlaif.llm.ports import (
    Answer,
    BrokenRouteError,
    CallTimeoutError,
    CompletionRequest,
    FailedRequestError,
    InvalidReplyError,
    ModelError,
    RefusedError,
    RouteWaitsError,
    ThrottledError,
    UnavailableError,
    UnreadableAnswerError,
)
from rlaif.llm.probing import MIN_VOTES, REQUEST_ROUNDS, THROTTLED_ROUNDS, Probe, Prober
from rlaif.llm.route import Route, RouteLimits
from rlaif.testing.waiting import eventually

PICTURE = [{"type": "image_url", "image_url": {"url": "data:"}}]
DOWN = UnavailableError("the engine died", status=500)
UNREACHABLE = UnavailableError("connection refused")
WRONG_MODEL = RefusedError("HTTP 400: Invalid model name", 400)
WRONG_KEY = RefusedError("HTTP 401: no", 401)


def _request(text: str = "known", *, pictures: bool = False) -> CompletionRequest:
    content: Any = [{"type": "text", "text": text}, *PICTURE] if pictures else text
    messages = ({"role": "user", "content": content},)
    return CompletionRequest("m", messages, "s", {}, seed=0, temperature=0.0, max_tokens=10)


class Clock:
    """Time that passes only in `sleep`."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


class Server:
    """A model server; `fault` says what a request ends in, None for an answer."""

    def __init__(self) -> None:
        self.fault: Callable[[CompletionRequest], ModelError | None] = lambda request: None
        self.asked: list[CompletionRequest] = []
        self.wait: Callable[[], Awaitable[object]] | None = None

    async def complete(self, request: CompletionRequest) -> Answer:
        self.asked.append(request)
        await asyncio.sleep(0)
        if self.wait is not None:
            await self.wait()
        error = self.fault(request)
        if error is not None:
            raise error
        return Answer("{}")


class Bench:
    """A route with a prober, in a time of its own."""

    def __init__(self, any_healthy: Callable[[], bool] = lambda: True, **probe: Any) -> None:
        self.clock, self.server = Clock(), Server()
        questions = {"text": _request(), "pictures": _request(pictures=True)}
        self.route = Route(
            "/vision",
            self.server,
            RouteLimits(failures=1000),
            probe=Probe(
                questions=questions,  # type: ignore[arg-type]  # its keys are the two modalities
                describe=Advice(
                    "LLM_VISION_URL", "JUDGE_VISION_MODEL (x)", "novelty", any_healthy
                ).describe,
                **probe,
            ),
            clock=self.clock,
            sleep=self.clock.sleep,
            jitter=lambda: 0.5,
        )

    @property
    def prober(self) -> Prober:
        assert self.route.prober is not None
        return self.route.prober

    async def ask(
        self, text: str = "segment", *, pictures: bool = False, retry: bool = True
    ) -> Any:
        """The answer's text, or the error."""

        async def failed(error: ModelError, seconds: float) -> None:
            pass

        request = _request(text, pictures=pictures)
        try:
            return (await self.route.complete(request, on_failure=failed, retry=retry)).answer.text
        except ModelError as error:
            return error

    def reported(self) -> str:
        return self.prober.check() or ""


@pytest.fixture
def bench() -> Bench:
    return Bench()


def _of(text: str, error: ModelError) -> Callable[[CompletionRequest], ModelError | None]:
    """A server that fails on one request and answers all others."""
    return lambda request: error if text in str(request.messages) else None


def _blind(request: CompletionRequest) -> ModelError | None:
    return DOWN if request.modality == "pictures" else None


@pytest.mark.parametrize("error", [DOWN, CallTimeoutError("no answer")], ids=["500", "timeout"])
async def test_a_request_that_alone_never_gets_an_answer_is_given_up_after_some_rounds(
    bench: Bench, error: ModelError
) -> None:
    bench.server.fault = _of("poison", error)
    for _ in range(REQUEST_ROUNDS - 1):
        assert await bench.ask("poison") is error
        assert await bench.ask("other") == "{}"
    last = await bench.ask("poison")
    assert isinstance(last, FailedRequestError)
    tries = sum("poison" in str(request.messages) for request in bench.server.asked)
    assert tries == REQUEST_ROUNDS * 3
    # It is known from now on and costs no call.
    assert isinstance(await bench.ask("poison"), FailedRequestError)
    assert sum("poison" in str(request.messages) for request in bench.server.asked) == tries
    assert bench.prober.check() is None


async def test_a_request_that_alone_is_throttled_for_ever_is_given_up_in_the_end(
    bench: Bench,
) -> None:
    error = ThrottledError("HTTP 429: larger than a minute's tokens", None)
    bench.server.fault = _of("poison", error)

    async def ask_both() -> Any:
        asked, _ = await asyncio.gather(bench.ask("poison"), bench.ask("other"))
        return asked

    for _ in range(THROTTLED_ROUNDS - 1):
        assert await ask_both() is error
    assert isinstance(await ask_both(), FailedRequestError)


async def test_a_server_that_only_wants_fewer_calls_loses_no_request(bench: Bench) -> None:
    error = ThrottledError("HTTP 429: slow down", 1.0)
    bench.server.fault = lambda request: error
    for _ in range(2 * THROTTLED_ROUNDS):
        assert isinstance(await bench.ask(), ThrottledError | RouteWaitsError)
        bench.clock.now += 5


async def test_a_request_that_is_refused_alone_is_given_up_at_once(bench: Bench) -> None:
    bench.server.fault = _of("poison", RefusedError("HTTP 400: too long", 400))
    last = await bench.ask("poison")
    assert isinstance(last, FailedRequestError)
    assert "too long" in str(last)
    assert bench.prober.check() is None


async def test_a_route_that_answers_probes_and_rejects_segments_is_reported(bench: Bench) -> None:
    too_long = RefusedError("HTTP 400: This model's maximum context length is 4096 tokens", 400)
    bench.server.fault = lambda request: None if request == _request() else too_long
    for number in range(MIN_VOTES):
        assert bench.reported() == ""
        assert isinstance(await bench.ask(f"segment {number}"), FailedRequestError)
    assert "rejects most segments" in bench.reported()
    assert "--max-model-len" in bench.reported()
    bench.server.fault = lambda request: None
    for number in range(MIN_VOTES):
        await bench.ask(f"shorter segment {number}")
    assert bench.reported() == ""


async def test_a_reply_that_is_no_completion_may_do_better_with_another_seed(bench: Bench) -> None:
    error = InvalidReplyError("<html>")
    bench.server.fault = _of("poison", error)
    assert await bench.ask("poison") is error
    assert bench.prober.check() is None
    bench.clock.now += 1
    bench.server.fault = lambda request: error
    assert isinstance(await bench.ask("poison"), RouteWaitsError)


async def test_an_answer_resets_the_failures_of_a_request(bench: Bench) -> None:
    bench.server.fault = _of("shaky", DOWN)
    await bench.ask("shaky")
    bench.server.fault = lambda request: None
    assert await bench.ask("shaky") == "{}"
    bench.server.fault = _of("shaky", DOWN)
    for _ in range(REQUEST_ROUNDS - 1):
        assert await bench.ask("shaky") is DOWN


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (WRONG_MODEL, ("refuses every call", "Invalid model name", "JUDGE_VISION_MODEL")),
        (WRONG_KEY, ("refuses every call", "check LLM_API_KEY")),
        (InvalidReplyError("<html>"), ("refuses every call", "LLM_VISION_URL")),
        (RefusedError("Unknown field: response_format.json_schema", 400), ("JUDGE_SCHEMA_MODE",)),
        (RefusedError("Insufficient Balance", 402), ("credit", "LLM_API_KEY")),
        (RefusedError("maximum context length is 4096", 400), ("JUDGE_MAX_TOKENS",)),
        (RefusedError("enable_thinking is not allowed", 400), ("JUDGE_CHAT_TEMPLATE_KWARGS",)),
        (DOWN, ("does not answer", "the engine died")),
        (UNREACHABLE, ("does not answer", "connection refused", "LLM_VISION_URL")),
        (ThrottledError("HTTP 429: quota", None), ("429", "quota")),
    ],
)
async def test_a_failing_route_reports_symptom_cause_and_check(
    bench: Bench, error: ModelError, words: tuple[str, ...]
) -> None:
    bench.server.fault = lambda request: error
    await bench.prober.probe("pictures", since=0.0)
    assert all(word in bench.reported() for word in ("/vision", "novelty", *words)), (
        bench.reported()
    )


@pytest.mark.parametrize("error", [WRONG_MODEL, WRONG_KEY], ids=["400", "401"])
async def test_while_everything_is_refused_requests_wait_a_little_and_then_do_without(
    bench: Bench, error: ModelError
) -> None:
    bench.server.fault = lambda request: error
    assert isinstance(await bench.ask(), RouteWaitsError)
    asked = len(bench.server.asked)
    bench.clock.now += 10
    assert isinstance(await bench.ask(), RouteWaitsError)
    assert bench.route.broken("text") is None
    bench.clock.now += 10
    last = await bench.ask()
    assert isinstance(last, BrokenRouteError)
    assert last.reason == "route_refused"
    assert "scored without" in (bench.route.broken("text") or "")
    # Only the prober calls it.
    assert len(bench.server.asked) == asked


async def test_an_outage_is_waited_for_far_longer_than_a_refusal(bench: Bench) -> None:
    bench.server.fault = lambda request: UNREACHABLE
    assert isinstance(await bench.ask(), RouteWaitsError)
    bench.clock.now += 500
    assert isinstance(await bench.ask(), RouteWaitsError)
    bench.clock.now += 200
    last = await bench.ask()
    assert isinstance(last, BrokenRouteError)
    assert last.reason == "route_down"


async def test_a_route_that_fails_on_pictures_alone_continues_with_text(bench: Bench) -> None:
    bench.server.fault = _blind
    assert isinstance(await bench.ask(pictures=True), RouteWaitsError)
    assert "fails on every picture" in bench.reported()
    assert await bench.ask() == "{}"
    bench.clock.now += 20
    last = await bench.ask(pictures=True)
    assert isinstance(last, BrokenRouteError)
    assert last.reason == "route_blind"
    assert bench.route.broken("text") is None
    assert await bench.ask() == "{}"
    assert "fails on every picture" in bench.reported()


async def test_a_route_that_hung_is_asked_again_without_a_further_pause(bench: Bench) -> None:
    times: list[float] = []

    async def hang() -> None:
        times.append(bench.clock.now)
        bench.clock.now += 5.0

    bench.server.wait = hang
    bench.server.fault = lambda request: CallTimeoutError("no answer")
    running = asyncio.create_task(bench.prober.run())
    await eventually(lambda: len(times) > 4, "it was asked some times")
    running.cancel()
    # The picture and the text at first, then one question a look.
    assert [later - before for before, later in pairwise(times[:4])] == [5.0, 5.5, 5.5]


async def test_a_mended_route_is_noticed_without_a_restart(bench: Bench) -> None:
    bench.server.fault = lambda request: WRONG_MODEL
    await bench.ask()
    bench.server.fault = lambda request: None
    running = asyncio.create_task(bench.prober.run())
    await eventually(lambda: bench.prober.check() is None, "the route is well")
    running.cancel()
    assert await bench.ask() == "{}"


async def test_a_broken_route_is_asked_more_and_more_seldom(bench: Bench) -> None:
    bench.server.fault = lambda request: WRONG_MODEL
    running = asyncio.create_task(bench.prober.run())
    await eventually(lambda: bench.clock.now > 3600, "an hour passes")
    running.cancel()
    # A look takes four questions, picture and text twice each, and comes every 30 s in the end.
    assert len(bench.server.asked) < 4 * (bench.clock.now / 30 + 80)


async def test_a_bug_in_a_look_does_not_end_the_looking(bench: Bench) -> None:
    seen = []

    def broken(request: CompletionRequest) -> ModelError | None:
        seen.append(request)
        raise KeyError("bug")

    bench.server.fault = broken
    running = asyncio.create_task(bench.prober.run())
    await eventually(lambda: len(seen) >= 3, "it looked again")
    running.cancel()


async def test_optional_calls_are_tried_once_and_not_at_all_on_a_failing_route(
    bench: Bench,
) -> None:
    bench.server.fault = _of("audit", DOWN)
    assert await bench.ask("audit", retry=False) is DOWN
    assert len(bench.server.asked) == 1
    assert bench.clock.now == 0.0
    bench.server.fault = lambda request: DOWN
    await bench.ask()
    asked = len(bench.server.asked)
    assert isinstance(await bench.ask("audit", retry=False), RouteWaitsError)
    assert len(bench.server.asked) == asked


async def test_a_silent_route_is_named_before_its_calls_time_out(bench: Bench) -> None:
    answered = asyncio.Event()
    bench.server.wait = answered.wait
    call = asyncio.create_task(bench.ask())
    await asyncio.sleep(0.01)
    bench.clock.now += 5
    assert bench.prober.check() is None
    bench.clock.now += 5
    assert "has not answered for 10 s" in bench.reported()
    answered.set()
    assert await call == "{}"
    assert bench.prober.check() is None


async def test_a_slow_route_is_not_called_silent(bench: Bench) -> None:
    bench.route.stats.latencies.append(20.0)
    answered = asyncio.Event()
    bench.server.wait = answered.wait
    call = asyncio.create_task(bench.ask())
    await asyncio.sleep(0.01)
    bench.clock.now += 30
    assert bench.prober.check() is None
    answered.set()
    await call


async def test_two_failures_in_a_row_are_reason_to_look_and_one_is_none(bench: Bench) -> None:
    bench.server.fault = lambda request: DOWN
    await bench.ask("a", retry=False)
    assert len(bench.server.asked) == 1
    await bench.ask("b", retry=False)
    await eventually(lambda: bench.prober.check() is not None, "it looked")
    assert "does not answer" in bench.reported()


UNREADABLE = UnreadableAnswerError("no JSON object")


async def test_a_known_question_with_an_unreadable_answer_is_an_issue_of_the_route() -> None:
    bench = Bench()
    bench.server.fault = lambda request: UNREADABLE
    assert isinstance(await bench.ask(), RouteWaitsError)
    assert bench.prober.unreadable
    assert "JUDGE_SCHEMA_MODE" in (bench.prober.check() or "")
    bench.clock.now += 15.0
    broken = await bench.ask()
    assert isinstance(broken, BrokenRouteError)
    assert broken.reason == "route_unreadable"
    bench.server.fault = lambda request: None
    await bench.prober.probe("text", since=bench.clock.now)
    assert not bench.prober.unreadable


async def test_an_unreadable_answer_beside_a_readable_known_question_is_its_own_fault() -> None:
    bench = Bench()
    bench.server.fault = lambda request: UNREADABLE if request != _request() else None
    assert await bench.ask() is UNREADABLE
    assert bench.prober.check() is None


async def test_while_nearly_all_votes_are_lost_a_lost_one_waits_and_then_is_provisional() -> None:
    bench = Bench()
    lost = [bench.prober.count_vote(UNREADABLE) for _ in range(MIN_VOTES)]
    assert lost[:-1] == [None] * (MIN_VOTES - 1)
    assert isinstance(lost[-1], RouteWaitsError)
    bench.clock.now += 15.0
    assert isinstance(bench.prober.count_vote(UNREADABLE), BrokenRouteError)
    for _ in range(MIN_VOTES):
        assert bench.prober.count_vote(None) is None
    assert not bench.prober.unreadable
    assert bench.prober.count_vote(UNREADABLE) is None


@pytest.mark.parametrize("up", [True, False])
async def test_a_slow_server_is_distinguished_from_a_dead_one(up: bool) -> None:
    async def is_up() -> bool:
        return up

    bench = Bench(is_up=is_up)
    bench.server.fault = lambda request: CallTimeoutError("no whole answer within 90 s")
    await bench.ask()
    reported = bench.prober.check() or ""
    assert ("JUDGE_CALL_TIMEOUT_SECONDS" in reported) == up
    assert ("LLM_VISION_URL" in reported) != up


@pytest.mark.parametrize(
    ("any_healthy", "cost"), [(True, "scored without"), (False, "all segments wait")]
)
async def test_segments_are_not_said_to_be_scored_while_no_judge_can_be_asked(
    any_healthy: bool, cost: str
) -> None:
    bench = Bench(any_healthy=lambda: any_healthy)
    bench.server.fault = lambda request: WRONG_KEY
    await bench.ask()
    bench.clock.now += 15.0
    assert cost in (bench.prober.check() or "")
