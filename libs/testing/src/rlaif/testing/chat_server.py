"""A chat server that says one thing, whatever it is asked, and keeps what it was asked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response

from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import Answer, CompletionRequest
from rlaif.llm.settings import CallSettings, DialectSettings
from rlaif.testing.http_server import serve


class ChatServer:
    """What a test changes, and what it reads afterwards.

    Attributes:
        message: The message of every reply, as the OpenAI API has it.
        finish: The `finish_reason` of every reply.
        status: The HTTP status of every reply; another than 200 has `message` as its body.
        bodies: The requests, oldest first.
        url: Where it listens, once `app` is served there.
    """

    def __init__(self, content: str) -> None:
        """`content` is what the model says."""
        self.message: dict[str, Any] = {"role": "assistant", "content": content}
        self.finish = "stop"
        self.status = 200
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    def app(self) -> FastAPI:
        """The server, below `/v1` of its address and of every path of it."""
        app = FastAPI()

        @app.post("/v1/chat/completions")
        @app.post("/{route}/v1/chat/completions")
        async def complete(request: Request) -> Response:
            self.bodies.append(json.loads(await request.body()))
            choice = {"message": self.message, "finish_reason": self.finish}
            said = {"choices": [choice]} if self.status == 200 else self.message
            return Response(json.dumps(said), self.status, media_type="application/json")

        return app


@asynccontextmanager
async def chat_server(content: str) -> AsyncIterator[ChatServer]:
    """Such a server, listening."""
    made = ChatServer(content)
    async with serve(made.app()) as url:
        made.url = url
        yield made


async def ask(server: ChatServer, request: CompletionRequest, **dialect: Any) -> Answer:
    """One call of it as our clients make it, in a dialect; without a key and without tries."""
    calls = CallSettings()
    async with connections_to(calls, api_key=None) as connections:
        spoken = DialectSettings.model_validate(dialect)
        return await OpenAiModel(connections, server.url, calls, spoken).complete(request)
