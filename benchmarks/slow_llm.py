"""A mock language model that answers the planner after a fixed delay in seconds.

    python benchmarks/slow_llm.py --seconds 2 --port 8600

It simulates a model on another machine, so it needs little CPU time: an open text is read to its
end, a puzzle is answered by a walk to some tile, a suggestion is some button. Each answer is sent
after exactly that delay, however many requests there are at once.
"""

import asyncio
import json
import random
from typing import Any

import uvicorn
from fastapi import FastAPI
from outcome import parser_of

NOTHING = dict.fromkeys(("room", "column", "row", "direction", "item", "choice"))


def answer(path: str, request: dict[str, Any], luck: random.Random) -> dict[str, Any]:
    """Return the content of a reply."""
    if request["response_format"]["json_schema"]["name"] == "suggestion":
        button = luck.choice(("UP", "DOWN", "LEFT", "RIGHT", "A", "B"))
        return {"reason": "It may help.", "button": button}
    macro = NOTHING | {"kind": "MOVE_TO", "column": luck.randint(1, 8), "row": luck.randint(1, 6)}
    if path.startswith("dialog"):
        macro = NOTHING | {"kind": "ANSWER", "choice": 0}
    return {"reason": "It may lead on.", "macros": [macro], "confidence": 0.5}


def slow_model(seconds: float) -> FastAPI:
    app, luck = FastAPI(), random.Random(1)

    @app.post("/{path:path}")
    async def reply(path: str, request: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(seconds)
        message = {"role": "assistant", "content": json.dumps(answer(path, request, luck))}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "slow",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3000, "completion_tokens": 60, "total_tokens": 3060},
        }

    return app


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    # Idle connections are kept, as by a model's server.
    uvicorn.run(
        slow_model(options.seconds), port=options.port, log_level="error", timeout_keep_alive=600
    )
