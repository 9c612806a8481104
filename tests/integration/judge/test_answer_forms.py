"""Whatever form a model answers in: it is scored, or its route has an issue and nothing is lost.

Each form was reported by users of public servers and models. `READABLE` forms hold the answer,
`UNREADABLE` ones do not; `FAILURES` report an error inside a 200.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response

from rlaif.llm.route import RouteLimits
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually

SETTINGS = {
    # Long enough that no route is given up on while a test looks.
    "patience_refused_seconds": 600.0,
    "patience_outage_seconds": 600.0,
    "limits": RouteLimits(attempts=2, pause_seconds=0.2),
    "votes": 1,
}


Reply = dict[str, Any]
Form = Callable[[Reply], Reply]


def _said(change: Callable[[str], object]) -> Form:
    """A form that changes the text of the answer."""

    def wrap(reply: Reply) -> Reply:
        message = reply["choices"][0]["message"]
        message["content"] = change(message["content"])
        return reply

    return wrap


def _values(change: Callable[[str, Any], Any]) -> Form:
    """A form that changes the values of the answer, by key."""
    return _said(lambda t: json.dumps({k: change(k, v) for k, v in json.loads(t).items()}))


def _moved(**message: Callable[[str], object]) -> Form:
    """A form whose content is empty; the answer is in other fields of the message."""

    def wrap(reply: Reply) -> Reply:
        text = reply["choices"][0]["message"]["content"]
        moved = {name: place(text) for name, place in message.items()}
        reply["choices"][0]["message"] = {"role": "assistant", "content": None, **moved}
        return reply

    return wrap


def _ended(finish: str, text: str | None) -> Form:
    """A form whose text is replaced, with another `finish_reason`."""

    def wrap(reply: Reply) -> Reply:
        reply["choices"][0] |= {"finish_reason": finish}
        reply["choices"][0]["message"]["content"] = text
        return reply

    return wrap


def _in_choice(error: Mapping[str, object]) -> Form:
    def wrap(reply: Reply) -> Reply:
        choice = {"finish_reason": "error", "message": {"content": ""}, "error": error}
        return reply | {"choices": [choice]}

    return wrap


_DRAFT = '{"rationale": "a draft", "puzzle": 0}'

READABLE: Mapping[str, Form] = {
    "fenced": _said(lambda t: f"```json\n{t}\n```"),
    "prose": _said(lambda t: f"Sure! Here is my {{honest}} verdict:\n\n{t}\n\nHope it helps."),
    "byte-order mark": _said(lambda t: "\ufeff" + t),
    "think": _said(lambda t: f"<think>\nHm. {_DRAFT}?\n</think>\n\n{t}"),
    "think twice": _said(lambda t: f"<think>a</think>\n<think>b {_DRAFT}</think>\n{t}"),
    "think unopened": _said(lambda t: f"Hm. {_DRAFT}?\n</think>\n{t}"),
    "THINK": _said(lambda t: f"[THINK]Hm. {_DRAFT}[/THINK]{t}"),
    "channels": _said(
        lambda t: (
            f"<|channel|>analysis<|message|>Hm. {_DRAFT}<|end|><|start|>assistant"
            f"<|channel|>final<|message|>{t}<|return|>"
        )
    ),
    "channels without marks": _said(lambda t: f"analysisHm. {_DRAFT}assistantfinal{t}"),
    "numbers as text": _values(lambda k, v: str(v) if isinstance(v, int) else v),
    "numbers as floats": _values(lambda k, v: float(v) if isinstance(v, int) else v),
    "extra key": _said(lambda t: json.dumps(json.loads(t) | {"confidence": 0.9})),
    "long rationale": _values(lambda k, v: v + "x" * 5000 if k == "rationale" else v),
    "the same twice": _said(lambda t: f"{t}\n{t}"),
    "parts": _said(
        lambda t: [{"type": "thinking", "thinking": []}, {"type": "text", "text": t}],
    ),
    "tool call": _moved(
        tool_calls=lambda t: [{"type": "function", "function": {"name": "v", "arguments": t}}]
    ),
    "function call": _moved(function_call=lambda t: {"name": "v", "arguments": json.loads(t)}),
    "taken for reasoning": _moved(reasoning_content=lambda t: t),
}

UNREADABLE: Mapping[str, Form] = {
    "prose only": _said(lambda t: "The player did well, I would give it a two."),
    "two answers": _said(lambda t: t + json.dumps(json.loads(t) | {"rationale": "or rather"})),
    "endless reasoning": _said(lambda t: f"<think>{t}"),
    "trailing comma": _said(lambda t: t[:-1] + ",}"),
    "single quotes": _said(lambda t: str(json.loads(t))),
    "not a number": _values(lambda k, v: float("nan") if isinstance(v, int) else v),
    "nested": _said(lambda t: json.dumps({"answer": json.loads(t)})),
    "JSON in a string": _said(json.dumps),
    "look-alike keys": _said(lambda t: t.replace("efficiency", "eff\u0456ciency")),
    "no content": _said(lambda t: None),
    "words for levels": _values(lambda k, v: "high" if isinstance(v, int) else v),
    "reasoning only": _moved(reasoning_content=lambda t: f"Let me see: {t}, or not?"),
    "content filter": _ended("content_filter", ""),
    "cut off": _ended("length", '{"rationale": "It walked and'),
    "white space": _ended("length", '{"rationale": "x",' + " " * 500),
    "refusal": _moved(refusal=lambda t: "I do not rate players."),
}

FAILURES: Mapping[str, Form] = {
    "429 in the body": lambda r: {"error": {"code": 429, "message": "Rate limit exceeded"}},
    "429 as text": lambda r: {"error": {"code": "429", "type": "throttling_error", "message": "x"}},
    "429 by name": lambda r: {"error": {"status": "RESOURCE_EXHAUSTED", "message": "slow down"}},
    "429 in a choice": _in_choice({"code": 429, "message": "Provider is rate-limited"}),
    "429 as the body": lambda r: {"code": 429, "message": "API rate limit exceeded"},
    "502 in the body": lambda r: {"error": {"code": 502, "message": "Provider returned error"}},
    "502 in a choice": _in_choice({"code": 502, "message": "Provider returned error"}),
    "error as text": lambda r: {"error": "the engine died"},
    "finish error": _ended("error", ""),
    "error in a list": lambda r: [{"error": {"code": 503, "status": "UNAVAILABLE"}}],  # type: ignore[dict-item,return-value]  # as Gemini has it
}

FORMS: Mapping[str, Form] = {**READABLE, **UNREADABLE, **FAILURES}


class FormProxy:
    """Forwards to the chat server at `target` and wraps its answers.

    Attributes:
        form: How answers are wrapped; None leaves them as they are.
        concerns: The requests whose answers are wrapped.
    """

    def __init__(self, target: str) -> None:
        self.form: Form | None = None
        self.concerns: Callable[[dict[str, Any]], bool] = lambda body: True
        self.url = ""
        self._target = target

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/{path:path}")
        async def forward(path: str, request: Request) -> Response:
            async with httpx.AsyncClient(trust_env=False) as client:
                url, body = f"{self._target}/{path}", await request.body()
                headers = {"content-type": "application/json"}
                reply = await client.post(url, content=body, headers=headers)
            said = reply.json()
            if self.form and reply.status_code == 200 and self.concerns(json.loads(body)):
                said = self.form(said)
            return Response(json.dumps(said), reply.status_code, media_type="application/json")

        return app


@pytest.fixture
async def proxy(stand_in: Any) -> AsyncIterator[FormProxy]:
    made = FormProxy(stand_in.url)
    async with serve(made.app()) as made.url:
        yield made


async def _issue(client: httpx.AsyncClient, route: str) -> str:
    checks = (await client.get("/readyz")).json()["checks"]
    return checks[f"route:{route}"]["detail"] or ""


@pytest.mark.parametrize("form", FORMS)
async def test_every_form_is_scored_or_its_route_has_an_issue_and_nothing_is_committed(
    pipeline: Any, start_judge: Any, proxy: FormProxy, form: str
) -> None:
    proxy.form = FORMS[form]
    client = await start_judge(**SETTINGS, wait=False, llm_state_url=f"{proxy.url}/dialog")
    await pipeline.export(1)

    async def settled() -> bool:
        return bool(await pipeline.scores() or await _issue(client, "state"))

    await eventually(settled, "scored, or the route has an issue")
    scores = await pipeline.scores()
    if form in READABLE:
        assert "progress" in scores["seg-00"].criteria
        assert await _issue(client, "state") == ""
        return
    assert scores == {}
    judges = (await client.get("/api/v1/judges")).json()["judges"]
    trouble = next(judge for judge in judges if judge["name"] == "state")["health"]["trouble"]
    named = trouble or await _issue(client, "state")
    if form in UNREADABLE:
        assert "JUDGE_STATE_MODEL" in named
        assert ("JUDGE_SCHEMA_MODE" in named) or ("JUDGE_MAX_TOKENS" in named) or "filter" in named
    else:
        assert form in FAILURES
        assert "refuses" not in named
    # The server is repaired: the segment that waited is scored.
    proxy.form = None

    async def scored() -> bool:
        return "seg-00" in await pipeline.scores()

    await eventually(scored, "the segment that waited is scored")
    assert "progress" in (await pipeline.scores())["seg-00"].criteria
    assert await pipeline.bus.dead_letters() == []


async def _scored_for_good(pipeline: Any) -> None:
    """Export further segments until none of the present ones has a provisional score.

    One provisional segment is scored again after each new one.
    """
    present = pipeline.exported

    async def final() -> bool:
        scores = await pipeline.scores()
        if len(scores) == pipeline.exported:
            await pipeline.export(1)
        first = [scores.get(f"seg-{at:02}") for at in range(present)]
        return all(score is not None and score.distrusted == () for score in first)

    await eventually(final, "no score is provisional any more")


async def test_a_segment_of_a_route_that_stays_unreadable_is_provisional_and_scored_again(
    pipeline: Any, start_judge: Any, proxy: FormProxy
) -> None:
    proxy.form = UNREADABLE["prose only"]
    url = f"{proxy.url}/dialog"
    await start_judge(**SETTINGS | {"patience_refused_seconds": 1.0}, llm_state_url=url)
    await pipeline.export(1)

    async def provisional() -> bool:
        return "seg-00" in await pipeline.scores()

    await eventually(provisional, "the segment has a provisional score")
    record = (await pipeline.scores())["seg-00"]
    assert record.abstentions["progress"] == "route_unreadable"
    assert record.distrusted == ("state",)
    proxy.form = None
    await _scored_for_good(pipeline)
    assert "progress" in (await pipeline.scores())["seg-00"].criteria


async def test_a_route_that_reads_the_known_question_and_loses_all_votes_has_an_issue_too(
    pipeline: Any, start_judge: Any, proxy: FormProxy
) -> None:
    proxy.form = UNREADABLE["prose only"]
    proxy.concerns = lambda body: body["temperature"] > 0  # votes, and no known question
    client = await start_judge(**SETTINGS | {"votes": 3}, llm_state_url=f"{proxy.url}/dialog")
    assert await _issue(client, "state") == ""
    await pipeline.export(8)

    async def named() -> bool:
        return "JUDGE_SCHEMA_MODE" in await _issue(client, "state")

    await eventually(named, "the route has an issue")
    proxy.form = None
    await _scored_for_good(pipeline)
    scores = await pipeline.scores()
    assert all("progress" in scores[f"seg-{at:02}"].criteria for at in range(8)), "nothing was lost"
