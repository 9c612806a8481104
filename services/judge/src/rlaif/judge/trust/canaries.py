"""Canaries: artificial segments with known answers, the control questions for the judges.

They are in `rlaif/judge/canaries`, one file per theme. A file has the common facts of its canaries
and the differences of each, by section of the evidence; `both` applies to start and end. Other
facts are those of `uneventful.json`.

    {"theme": "walking", "shared": {"both": {"items": ["sword"]}, …}, "canaries": [
        {"name": "…", "start": {…}, "end": {…}, …, "rise": 2, "objectives": [3, 3], "turned": true,
         "levels": {"dialog": [1], "novelty": [0]}}]}

`levels` are those allowed by the anchors, the best first. `rise` is the level of the rise on the
quest, `objectives` are the next ones at the start and at the end. With `turned` the reversed
segment is also a canary, with the opposite rise.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.scores import PROGRESS
from rlaif.judge.panel.schema import Verdict
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.trust.exclusion import KnownAnswer

_FILES = resources.files("rlaif.judge") / "canaries"


@dataclass(frozen=True)
class Canary:
    """One artificial segment with known answers.

    Attributes:
        levels: Criterion → levels allowed by its anchors, the best first.
        rise: Level of the rise on the quest; None if the guide is ambiguous.
        objectives: Next objectives of the game's guide at the start and at the end.
    """

    name: str
    theme: str
    evidence: Evidence
    levels: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    rise: int | None = None
    objectives: tuple[int, int] | None = None

    def known(self, judge: Judge) -> dict[str, tuple[int, ...]]:
        """Criterion → correct levels, for the criteria of a briefed judge."""
        found = {c.name: self.levels[c.name] for c in judge.rated if c.name in self.levels}
        if judge.tells_quest and self.rise is not None:
            found[PROGRESS] = (self.rise,)
        return found

    def grade(self, judge: Judge, verdict: Verdict) -> dict[str, KnownAnswer]:
        """Criterion → graded answer of a briefed judge; known objectives must be correct too."""
        graded = {}
        for name, right in self.known(judge).items():
            given = verdict.levels[name]
            fits = given in right
            if name == PROGRESS and verdict.quest and self.objectives:
                fits = fits and verdict.quest.objectives == self.objectives
            graded[name] = KnownAnswer(right[0], given, fits)
        return graded

    def missed(self, judge: Judge) -> dict[str, KnownAnswer]:
        """Criterion → a wrong answer, for a reply that cannot be parsed."""
        known = self.known(judge).items()
        return {name: KnownAnswer(right[0], None, right=False) for name, right in known}


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_FILES / name).read_text(encoding="utf-8"))
    return found


_UNEVENTFUL: dict[str, dict[str, Any]] = _read("uneventful.json")["shared"]


@cache
def canaries() -> tuple[Canary, ...]:
    """All canaries, by theme name and in file order."""
    names = sorted(file.name for file in _FILES.iterdir() if file.name.endswith(".json"))
    return tuple(canary for name in names for canary in read_theme(_read(name)))


def read_theme(theme: Mapping[str, Any]) -> list[Canary]:
    """The canaries of one file.

    Raises:
        ValueError: A fact is not part of the evidence and would not be shown to judges.
    """
    found = []
    for given in theme["canaries"]:
        canary = Canary(
            given["name"],
            theme["theme"],
            _evidence(_merged(_UNEVENTFUL, theme["shared"], given)),
            {name: tuple(right) for name, right in given.get("levels", {}).items()},
            given.get("rise"),
            tuple(given["objectives"]) if "objectives" in given else None,
        )
        found.append(canary)
        if given.get("turned"):
            found.append(_turned(canary))
    return found


def in_turn(judge: Judge, every: Sequence[Canary]) -> list[Canary]:
    """The canaries of a briefed judge, ordered so that neighbours differ in levels."""
    groups: dict[tuple[tuple[str, int], ...], list[Canary]] = {}
    for canary in every:
        known = canary.known(judge)
        if known:
            # Novelty and efficiency are known for nearly all: group by the rest.
            telling = {n: r for n, r in known.items() if n in (PROGRESS, "dialog", "puzzle")}
            kind = tuple(sorted((name, right[0]) for name, right in (telling or known).items()))
            groups.setdefault(kind, []).append(canary)
    rows = sorted(groups.values(), key=len, reverse=True)
    longest = max(map(len, rows), default=0)
    # Spread each group evenly over the whole sequence.
    placed = [
        ((at + 0.5) / len(row) * longest, number, canary)
        for number, row in enumerate(rows)
        for at, canary in enumerate(row)
    ]
    return [canary for *_, canary in sorted(placed, key=lambda each: each[:2])]


def _merged(*layers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    facts = {
        name: {key: value for layer in layers for key, value in layer.get(name, {}).items()}
        for name in _UNEVENTFUL
    }
    both = facts.pop("both")
    for moment in ("start", "end"):
        own = {k: v for layer in layers for k, v in layer.get(moment, {}).items()}
        facts[moment] = both | own
    return facts


def _evidence(facts: Mapping[str, Any]) -> Evidence:
    evidence = Evidence.model_validate_json(json.dumps(facts))
    # The evidence ignores invalid values; here they are mistakes.
    seen = json.loads(evidence.model_dump_json())
    for section, given in facts.items():
        for name, value in given.items():
            if seen[section].get(name) != value:
                raise ValueError(f"{section}.{name} of a canary is not evidence: {value!r}")
    return evidence


def _turned(canary: Canary) -> Canary:
    if canary.rise is None:
        raise ValueError(f"{canary.name} has no rise to reverse")
    evidence = canary.evidence
    rooms, movement = evidence.rooms, evidence.movement
    back = evidence.model_copy(
        update={
            "start": evidence.end,
            "end": evidence.start,
            "rooms": rooms.model_copy(
                update={
                    "in_order": rooms.in_order and rooms.in_order[::-1],
                    "places": rooms.places and rooms.places[::-1],
                }
            ),
            "movement": movement.model_copy(update={"path": movement.path and movement.path[::-1]}),
        }
    )
    objectives = canary.objectives and canary.objectives[::-1]
    return Canary(
        f"{canary.name}, and back", canary.theme, back, canary.levels, 2 - canary.rise, objectives
    )
