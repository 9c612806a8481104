"""A chat server that says one thing, whatever it is asked, and keeps what it was asked."""

import json
from typing import Any

from fastapi import FastAPI, Request, Response


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
