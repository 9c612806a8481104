"""Compare the numbers of the page with each other and with the REST API.

Each number on the page names the field of `/api/v1/state` that it shows (`data-figure`), or another
document and its field, `/api/v1/reward-models/7#manifest.labels`, so that a test can read and
verify all of them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, rubric_mean

FIGURES = """[...document.querySelectorAll('[data-figure]')]
    .map(element => [element.dataset.figure, element.textContent])"""
"""JavaScript: every number of the page as [field, text]."""

APART = {
    "loads": "/api/v1/loads",
    "history": "/api/v1/history",
    "score_points": "/api/v1/score-points",
    "paid_steps": "/api/v1/steps",
}
"""First part of a field outside the state → the path of its document."""

UNNAMED = r"""(() => {
    const known = '[data-figure], time, code, kbd, #log, .words, .rationale, .unread, .reported,'
        + ' .scale, .mark-name, [data-derived], .overlay, figcaption, button, option, dt,'
        + ' th, title, .empty, h1';
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const text = walker.currentNode.textContent;
        if (/\d/.test(text) && !walker.currentNode.parentElement.closest(known)) found.push(text);
    }
    return found;
})()"""
"""JavaScript: numbers without a named field, except times, ids, scales and quoted text."""

UNKNOWN = "—"
_MINUS = "\N{MINUS SIGN}"
_NUMBER = re.compile(r"v?(?P<digits>[+-]?[\d,]*\.?\d+)\s*(?P<unit>K|M|B|%|ms|s|min)?")
_UNITS = {
    None: 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "%": 0.01, "ms": 0.001, "s": 1.0, "min": 60.0,
}  # fmt: skip
_NAMES = (
    "segment_id", "env_step", "version", "candidate_id", "judge", "what", "name", "criterion",
    "rater",
)  # fmt: skip
"""Fields that identify rows of a list."""


def value_of(state: Any, field: str) -> Any:
    """The value of a field: `loop.captured`, `segments.<id>.weighted`, `judge.ok/judge.calls`.

    Raises:
        LookupError: The field does not exist.
    """
    if "/" in field:
        part, whole = (value_of(state, each) for each in field.split("/"))
        return part / whole if whole else None
    found = state
    for word in field.split("."):
        found = _member(found, word)
        if found is None:
            return None
    return found


def _member(of: Any, word: str) -> Any:
    if isinstance(of, Mapping):
        # Criteria without a score have no key.
        return of.get(word)
    if word == "length":
        return len(of)
    if of and isinstance(of[0], Mapping):
        for row in of:
            if word in (str(row.get(name)) for name in _NAMES):
                return row
    return of[int(word)]


def shows(text: str, value: Any) -> bool:
    """Whether `text` shows `value`, within the precision of its digits and unit."""
    if value is None or text == UNKNOWN:
        return value is None and text == UNKNOWN
    number = _number(text)
    return number is not None and abs(number[0] - float(value)) <= number[1] * (1 + 1e-6)


def _number(text: str) -> tuple[float, float] | None:
    """Parse (value, precision) of a text; None if it is not a number."""
    match = _NUMBER.fullmatch(text.replace(_MINUS, "-").strip())
    if match is None:
        return None
    digits = match["digits"].replace(",", "")
    unit = _UNITS[match["unit"]]
    places = len(digits.partition(".")[2])
    # Half of the last digit, or a whole one if minutes are truncated.
    exact = (1.0 if match["unit"] == "min" else 0.5) * 10.0**-places * unit
    return float(digits) * unit, exact


def documents_of(figures: Iterable[tuple[str, str]]) -> set[str]:
    """Paths of the documents of the page's numbers, except `/api/v1/state`."""
    return {field.partition("#")[0] for field, _ in figures if "#" in field}


def contradictions(
    figures: Iterable[tuple[str, str]],
    *states: Any,
    documents: Mapping[str, Any] = MappingProxyType({}),
) -> list[str]:
    """Return the numbers of the page that differ from the REST API.

    Args:
        figures: (field, text) of each number of the page.
        documents: Path → body, of those that `documents_of` names.
        states: Bodies of `/api/v1/state`. For a changing page, several recent ones: each number
            must match one of them or lie between two.
    """
    wrong = []
    for field, text in figures:
        path, _, inside = field.partition("#")
        bodies, name = ([documents.get(path)], inside) if inside else (states, field)
        values = [value for body in bodies for value in _found(body, name)]
        if not any(shows(text, value) for value in values) and not _between(text, values):
            said = sorted({str(value) for value in values}) or "no such field"
            wrong.append(f"{field} shows {text}, and the state says {said}")
    return wrong


def _found(state: Any, field: str) -> list[Any]:
    try:
        return [value_of(state, field)]
    except (LookupError, ValueError):
        return []


def _between(text: str, values: Sequence[Any]) -> bool:
    number = _number(text)
    known = [value for value in values if isinstance(value, int | float)]
    return number is not None and bool(known) and min(known) <= number[0] <= max(known)


def differing(figures: Iterable[tuple[str, str]]) -> list[str]:
    """Return fields that the page shows with different values."""
    shown: dict[str, set[str]] = {}
    for field, text in figures:
        shown.setdefault(field, set()).add(text.lstrip("+"))
    return [f"{field} shows {sorted(texts)}" for field, texts in shown.items() if len(texts) > 1]


def impossible(state: Any) -> list[str]:
    """Return contradictions in one body of `/api/v1/state`."""
    found = [*_of_loop(state), *_of_run(state)]
    for row in state["segments"]:
        found += _of_segment(row)
    return found


def _of_loop(state: Any) -> list[str]:
    loop, models, run = state["loop"], state["reward_models"], state["run"]
    counts = [loop[name] for name in ("captured", "exported", "scored", "without_score")]
    champions = [row["version"] for row in models["published"] if row["champion"]]
    live = models["champion"]["version"] if models["champion"] else None
    used = [row["version"] for row in models["published"] if row["in_use"]]
    return _failed(
        (
            "a later station has more segments than one before it",
            None in counts or counts == sorted(counts, reverse=True),
        ),
        ("two champions", champions in ([], [live])),
        ("another model is in use", used in ([], [run and run["reward_model_version"]])),
    )


def _of_run(state: Any) -> list[str]:
    run, loop, reward = (state[name] for name in ("run", "loop", "reward"))
    loads = {row["version"]: row["loaded_at_steps"] for row in state["reward_models"]["published"]}
    told = []
    if run is not None:
        used = (run["reward_model_version"], run["reward_model_loaded_at_step"])
        told.append(("run of the loop", loop["run_id"] == run["run_id"]))
        told.append(
            ("the model in use was not loaded", None in used or used[1] in loads.get(used[0], used))
        )
    if reward is not None:
        total = sum(reward["parts"].values())
        told.append(("reward parts", abs(total - reward["total"]) < 1e-6 * (1 + abs(total))))
    return _failed(*told)


def _of_segment(row: Any) -> list[str]:
    name = row["segment_id"]
    if row["score"] is None:
        return _failed((f"{name}: a mean without its criteria", row["score_problem"] is not None))
    values = {key: score["value"] for key, score in row["score"]["criteria"].items()}
    mean = rubric_mean(values, RUBRIC_WEIGHTS)
    same = row["weighted"] == mean or None not in (row["weighted"], mean)
    if row["weighted"] is not None and mean is not None:
        same = abs(mean - row["weighted"]) < 1e-6
    return _failed((f"{name}: {row['weighted']} is not the mean {mean} of its criteria", same))


def _failed(*checks: tuple[str, bool]) -> list[str]:
    return [what for what, holds in checks if not holds]
