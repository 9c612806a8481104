"""The forms in which servers wrap one right answer: a proxy before a chat server that answers well.

Each form was reported by users of public servers and models. `READABLE` forms hold the answer,
`UNREADABLE` ones do not; `FAILURES` report an error inside a 200.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
from fastapi import FastAPI, Request, Response

from rlaif.testing.servers.http_server import serve

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
    "502 in the body": lambda r: {"error": {"code": 502, "message": "Provider returned error"}},
    "502 in a choice": _in_choice({"code": 502, "message": "Provider returned error"}),
    "error as text": lambda r: {"error": "the engine died"},
    "finish error": _ended("error", ""),
    "error in a list": lambda r: [{"error": {"code": 503, "status": "UNAVAILABLE"}}],  # type: ignore[dict-item,return-value]  # as Gemini has it
}

FORMS: Mapping[str, Form] = {**READABLE, **UNREADABLE, **FAILURES}


class FormProxy:
    """Forwards to a chat server and wraps its answers.

    Attributes:
        form: How answers are wrapped; None leaves them as they are.
        concerns: The requests whose answers are wrapped.
    """

    def __init__(self, target: str) -> None:
        """`target` is the base URL of the chat server."""
        self.form: Form | None = None
        self.concerns: Callable[[dict[str, Any]], bool] = lambda body: True
        self.url = ""
        self._target = target

    def app(self) -> FastAPI:
        """The proxy."""
        app = FastAPI()

        @app.post("/{path:path}")
        async def forward(path: str, request: Request) -> Response:
            async with httpx.AsyncClient(trust_env=False) as client:
                url, body = f"{self._target}/{path}", await request.body()
                reply = await client.post(url, content=body, headers=_JSON)
            said = reply.json()
            if self.form and reply.status_code == 200 and self.concerns(json.loads(body)):
                said = self.form(said)
            return Response(json.dumps(said), reply.status_code, media_type=_JSON["content-type"])

        return app


_JSON = {"content-type": "application/json"}


@asynccontextmanager
async def form_proxy(target: str) -> AsyncIterator[FormProxy]:
    """Such a proxy, listening."""
    made = FormProxy(target)
    async with serve(made.app()) as url:
        made.url = url
        yield made
