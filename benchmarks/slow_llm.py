"""A language model that answers every question of the planner after so many seconds.

    python benchmarks/slow_llm.py --seconds 2 --port 8600

It thinks of nothing, so that it costs the machine nothing: an open text is read to its end, a
puzzle is answered by a walk to some tile, a suggestion is some button. It stands in for a model on
another machine. Each answer goes out exactly so late, however many are asked at once.
"""

import argparse
import asyncio
import json
import random
from typing import Any

_BUTTONS = ("UP", "DOWN", "LEFT", "RIGHT", "A", "B")
_NOTHING = {
    "room": None,
    "column": None,
    "row": None,
    "direction": None,
    "item": None,
    "choice": None,
}


def answer(path: str, request: dict[str, Any], luck: random.Random) -> dict[str, Any]:
    """What the model says."""
    if request["response_format"]["json_schema"]["name"] == "suggestion":
        return {"reason": "It may help.", "button": luck.choice(_BUTTONS)}
    macro = _NOTHING | {"kind": "MOVE_TO", "column": luck.randint(1, 8), "row": luck.randint(1, 6)}
    if path.startswith("/dialog"):
        macro = _NOTHING | {"kind": "ANSWER", "choice": 0}
    return {"reason": "It may lead on.", "macros": [macro], "confidence": 0.5}


class SlowModel:
    """The server; requests of one connection come one after the other."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._luck = random.Random(1)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                fields = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                await asyncio.sleep(self._seconds)
                said = json.dumps(answer(head[0].split()[1], json.loads(body), self._luck))
                await _write(writer, said)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def _write(writer: asyncio.StreamWriter, said: str) -> None:
    message = {"role": "assistant", "content": said}
    reply = json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "slow",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3000, "completion_tokens": 60, "total_tokens": 3060},
        }
    ).encode()
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(reply)}\r\n\r\n"
    )
    writer.write(head.encode() + reply)
    await writer.drain()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    model = SlowModel(options.seconds)
    async with await asyncio.start_server(model.serve, "127.0.0.1", options.port) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
