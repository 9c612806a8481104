"""Facts in a prompt, shut in so that no text among them is read as part of it."""

import json
from collections.abc import Mapping
from typing import Any


def fence(facts: Mapping[str, Any]) -> str:
    """Facts as a fenced JSON block that no text inside can close.

    JSON escapes quotes and control characters; backticks and angle brackets are escaped too, so
    neither the fence nor a chat template's marks can be imitated from inside.
    """
    text = json.dumps(facts, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for mark in "`<>":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return f"```json\n{text}\n```"
