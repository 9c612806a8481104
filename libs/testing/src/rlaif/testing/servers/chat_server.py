"""A chat server with a fixed or scripted answer, which records its requests."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response

from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import Answer, CompletionRequest
from rlaif.llm.settings import CallSettings, DialectSettings
from rlaif.testing.servers.http_server import serve

Content = str | Callable[[dict[str, Any]], str]
"""An answer, or a function of the request's body that returns one."""


class ChatServer:
    """The server.

    Attributes:
        message: The message of every reply, as in the OpenAI API.
        finish: The `finish_reason` of every reply.
        status: The HTTP status of every reply; with one other than 200 the body is `message`.
        bodies: The requests, oldest first.
        url: Its address, once `app` is served there.
    """

    def __init__(self, content: Content) -> None:
        self.message: dict[str, Any] = {"role": "assistant", "content": content}
        self.finish = "stop"
        self.status = 200
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    def app(self) -> FastAPI:
        """The app, which serves `/v1` below its address and below every path."""
        app = FastAPI()

        @app.post("/v1/chat/completions")
        @app.post("/{route}/v1/chat/completions")
        async def complete(request: Request) -> Response:
            body = json.loads(await request.body())
            self.bodies.append(body)
            message = dict(self.message)
            if callable(message.get("content")):
                message["content"] = message["content"](body)
            choice = {"message": message, "finish_reason": self.finish}
            reply = {"choices": [choice]} if self.status == 200 else message
            return Response(json.dumps(reply), self.status, media_type="application/json")

        return app


@asynccontextmanager
async def chat_server(content: Content) -> AsyncIterator[ChatServer]:
    """A running server."""
    made = ChatServer(content)
    async with serve(made.app()) as url:
        made.url = url
        yield made


async def ask(server: ChatServer, request: CompletionRequest, **dialect: Any) -> Answer:
    """Call it once with the project's client in a dialect, without key or retries."""
    calls = CallSettings()
    async with connections_to(calls, api_key=None) as connections:
        spoken = DialectSettings.model_validate(dialect)
        return await OpenAiModel(connections, server.url, calls, spoken).complete(request)
