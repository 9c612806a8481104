"""Fenced JSON in a prompt that no text inside can escape from."""

import json
from collections.abc import Mapping
from typing import Any


def fence(facts: Mapping[str, Any]) -> str:
    """Facts as a fenced JSON block.

    Backticks and angle brackets are escaped, so text inside can neither close the fence nor imitate
    the markers of a chat template.
    """
    text = json.dumps(facts, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for mark in "`<>":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return f"```json\n{text}\n```"
