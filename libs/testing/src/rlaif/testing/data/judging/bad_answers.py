"""Replies of a language model that must never become a score, generated from a seed.

Each is invalid by construction, at some layer between the bytes of the HTTP body and the levels.
None is a valid answer by chance.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

HUGE_BYTES = 10_000_000
CHUNK_BYTES = 65_536


@dataclass(frozen=True)
class BadAnswer:
    """One reply.

    Attributes:
        kind: What is wrong with it.
        body: Bytes of the HTTP body.
        repeats: How often they are sent; None: endlessly.
        text: The message inside the body, if any.
    """

    kind: str
    body: bytes
    repeats: int | None = 1
    text: str | None = None

    def chunks(self) -> Iterator[bytes]:
        for _ in count() if self.repeats is None else range(self.repeats):
            for at in range(0, len(self.body), CHUNK_BYTES):
                yield self.body[at : at + CHUNK_BYTES]


def bad_answers(criteria: Sequence[str], *, number: int, seed: int) -> Iterator[BadAnswer]:
    """Yield `number` replies to a judge asked for the keys `criteria`; equal seeds, equal replies.

    A key of the quest, `objective_…` or `distance_…`, takes larger numbers than a level.

    The kinds alternate, except that 10 MB and endless replies are one in a hundred.
    """
    draw = random.Random(seed)
    kinds = list(_TEXTS) + list(_BODIES)
    for at in range(number):
        if at % 100 == 99:
            yield _large(draw)
            continue
        kind = kinds[at % len(kinds)]
        if kind in _BODIES:
            yield BadAnswer(kind, _BODIES[kind](draw))
        else:
            text = _TEXTS[kind](draw, criteria)
            yield BadAnswer(kind, completion(text), text=text)


def completion(text: object) -> bytes:
    """A chat completion with `text` as its message."""
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def _large(draw: random.Random) -> BadAnswer:
    if draw.random() < 0.5:
        return BadAnswer("endless", b" " * CHUNK_BYTES, repeats=None)
    return BadAnswer("10 MB", b"x" * CHUNK_BYTES, repeats=HUGE_BYTES // CHUNK_BYTES + 1)


def _valid(draw: random.Random, criteria: Sequence[str]) -> dict[str, object]:
    # 1 and 2 are levels, numbers of objectives and distances alike.
    return {"rationale": _words(draw)} | {name: draw.randrange(1, 3) for name in criteria}


def _words(draw: random.Random) -> str:
    alphabet = "abcdefgh {}[]\"':,.\\\n\t`<>é漢\u202e\x00"
    return "".join(draw.choice(alphabet) for _ in range(draw.randrange(60)))


def _with(value: Callable[[random.Random], object]) -> "_Text":
    def make(draw: random.Random, criteria: Sequence[str]) -> str:
        answer = _valid(draw, criteria)
        answer[draw.choice(list(criteria))] = value(draw)
        return json.dumps(answer)

    return make


def _out_of_range(draw: random.Random, criteria: Sequence[str]) -> str:
    name = draw.choice(list(criteria))
    on_quest = name.startswith(("objective_", "distance_"))
    large = [1000, 21_000] if on_quest else [3, 10, 11]
    value = draw.choice([-1, *large, 10**30, -(10**9)])
    return json.dumps(_valid(draw, criteria) | {name: value})


def _raw(value: str) -> "_Text":
    """A value that only a lenient JSON reader takes, such as NaN."""

    def make(draw: random.Random, criteria: Sequence[str]) -> str:
        answer = _valid(draw, criteria)
        answer[draw.choice(list(criteria))] = "@@"
        return json.dumps(answer).replace('"@@"', value)

    return make


def _truncated(draw: random.Random, criteria: Sequence[str]) -> str:
    text = json.dumps(_valid(draw, criteria))
    return text[: draw.randrange(1, len(text))]


def _missing(draw: random.Random, criteria: Sequence[str]) -> str:
    answer = _valid(draw, criteria)
    del answer[draw.choice(list(answer))]
    return json.dumps(answer)


def _twice(draw: random.Random, criteria: Sequence[str]) -> str:
    text = json.dumps(_valid(draw, criteria))
    return f'{{"{draw.choice(list(criteria))}": 2, {text[1:]}'


def _two(draw: random.Random, criteria: Sequence[str]) -> str:
    answer = _valid(draw, criteria)
    return json.dumps(answer) + "\n" + json.dumps(answer | {"rationale": "or rather"})


def _deep(draw: random.Random, _criteria: Sequence[str]) -> str:
    depth = draw.randrange(10, 4000)
    return draw.choice(["[", '{"a":']) * depth


def _not_text(draw: random.Random) -> object:
    return draw.choice([7, 1.5, True, None, ["a"], {"a": 1}])


def _no_rationale(draw: random.Random, criteria: Sequence[str]) -> str:
    return json.dumps(_valid(draw, criteria) | {"rationale": _not_text(draw)})


_Text = Callable[[random.Random, Sequence[str]], str]

_TEXTS: dict[str, _Text] = {
    "garbage": lambda draw, _: "?" + _words(draw),
    "empty": lambda draw, _: " " * draw.randrange(5),
    "truncated": _truncated,
    "missing key": _missing,
    "key twice": _twice,
    "deep": _deep,
    "rationale no text": _no_rationale,
    "out of range": _out_of_range,
    "float": _with(lambda draw: draw.choice([0.5, 1e300, 1.9999])),
    "text for a number": _with(lambda draw: draw.choice(["one", "2 of 2", "1/2", "high", ""])),
    "bool": _with(lambda draw: draw.choice([True, False])),
    "null": _with(lambda draw: None),
    "list": _with(lambda draw: [draw.randrange(3)]),
    "object": _with(lambda draw: {"level": draw.randrange(3)}),
    "NaN": _raw("NaN"),
    "infinity": _raw("-Infinity"),
    "number with a leading zero": _raw("01"),
    "two answers": _two,
    "only reasoning": lambda draw, criteria: "<think>" + json.dumps(_valid(draw, criteria)),
    "only a draft": lambda draw, criteria: json.dumps(_valid(draw, criteria)) + "</think>",
    "an answer in a text": lambda draw, criteria: json.dumps(json.dumps(_valid(draw, criteria))),
    "a bare value": lambda draw, _: draw.choice(["2", "null", "true", '"progress"', "[]", "{}"]),
    "single quotes": lambda draw, criteria: str(_valid(draw, criteria)),
}  # fmt: skip

_BODIES: dict[str, Callable[[random.Random], bytes]] = {
    "random bytes": lambda draw: b"\xff" + draw.randbytes(draw.randrange(400)),
    "html": lambda draw: b"<html><body>502 Bad Gateway</body></html>",
    "empty body": lambda draw: b"",
    "no choices": lambda draw: draw.choice(
        [b"{}", b"[]", b"null", b'{"choices": []}', b'{"choices": null}', b'{"choices": [7]}']
    ),
    "content no text": lambda draw: completion(_not_text(draw)),
    "truncated body": lambda draw: completion("x")[: -draw.randrange(1, 30)],
    "usage of another kind": lambda draw: b'{"choices":[{"message":{"content":1}}],"usage":[1]}',
}
