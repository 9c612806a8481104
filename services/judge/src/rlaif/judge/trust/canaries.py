"""Segments with known answers, asked now and then: does a judge still judge?

A judge that gives every segment the same level looks steady and agrees with itself. It is found by
asking for things whose levels must differ.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rlaif.contracts.evidence import Evidence
from rlaif.judge.rubric.judges import Judge


@dataclass(frozen=True)
class Canary:
    """One made-up segment, and for each criterion the level that its anchors demand."""

    name: str
    evidence: Evidence
    levels: Mapping[str, int]


@dataclass(frozen=True)
class CanaryResult:
    """How many known levels were asked, answered (or abstained from), and right.

    `constant` names the criteria whose answers were one level where the known ones differ.
    """

    asked: int
    answered: int
    right: int
    constant: tuple[str, ...] = ()

    @property
    def accuracy(self) -> float | None:
        """Share of the answers that were right; None without an answer."""
        return self.right / self.answered if self.answered else None


def grade(
    judge: Judge, answers: Iterable[tuple[Canary, Mapping[str, int | None] | None]]
) -> CanaryResult:
    """Hold one judge's answers, criterion → level for each canary, against the known levels.

    None for a level is an abstention, None for all is an answer that could not be read.
    """
    names = [criterion.name for criterion in judge.criteria]
    pairs: dict[str, list[tuple[int, int | None]]] = {name: [] for name in names}
    asked = 0
    for canary, levels in answers:
        known = {name: canary.levels[name] for name in names if name in canary.levels}
        asked += len(known)
        if levels is not None:
            for name, level in known.items():
                pairs[name].append((level, levels.get(name)))
    answered = [pair for found in pairs.values() for pair in found]
    return CanaryResult(
        asked=asked,
        answered=len(answered),
        right=sum(known == answer for known, answer in answered),
        constant=tuple(name for name, found in pairs.items() if _constant(found)),
    )


def _constant(pairs: Sequence[tuple[int, int | None]]) -> bool:
    return len({known for known, _ in pairs}) > 1 and len({answer for _, answer in pairs}) == 1


def _evidence(**sections: dict[str, object]) -> Evidence:
    """The evidence of an uneventful walk, with some facts of some sections replaced."""
    base: dict[str, dict[str, object]] = {
        "segment": {"seconds": 5.0, "steps": 75, "inputs": {"RIGHT": 0.6, "DOWN": 0.4}},
        "start": _moment("0/182", [24, 64]),
        "end": _moment("0/182", [120, 96]),
        "rooms": {"in_order": ["0/182"], "changes": 0, "different": 1, "first_visits": 0},
        "movement": {"pixels": 128, "idle_share": 0.1, "path": [[24, 64], [80, 64], [120, 96]]},
        "changes": {
            **dict.fromkeys(("hearts", "max_hearts", "deaths", "rupees", "bombs"), 0),
            **{"keys": None, "essences": 0, "items_gained": [], "items_lost": []},
        },
        "dialog": {"steps": 0, "opened": 0, "closed": 0, "texts": 0, "open_at_end": False},
        "control": {"steps_without": 0, "menu_steps": 0},
        "enemies": {"most_near": 0, "left_at_end": 0, "defeated": 0},
        "puzzle": {"parts": {}, "events_done": 0, "items_taken": 0},
    }
    return Evidence.model_validate(
        {name: part | sections.get(name, {}) for name, part in base.items()}
    )


def _moment(room: str, at: list[int]) -> dict[str, object]:
    return {
        "room": room, "area": "overworld", "dungeon": None, "at": at, "hearts": 3.0,
        "max_hearts": 3.0, "rupees": 10, "keys": None, "season": "spring",
    }  # fmt: skip


CANARIES: tuple[Canary, ...] = (
    Canary(
        "stood still",
        _evidence(
            segment={"inputs": {"NOP": 1.0}},
            end={"at": [24, 64]},
            movement={"pixels": 0, "idle_share": 1.0, "path": [[24, 64], [24, 64]]},
        ),
        {"progress": 0, "efficiency": 0, "novelty": 0},
    ),
    Canary(
        "took an item in a third new room",
        _evidence(
            rooms={
                "in_order": ["0/182", "0/183", "0/184", "0/185"],
                "changes": 3,
                "different": 4,
                "first_visits": 3,
            },
            end={"room": "0/185", "at": [140, 64]},
            movement={"pixels": 420, "idle_share": 0.02, "path": [[24, 64], [150, 64], [140, 64]]},
            changes={"items_gained": ["feather"]},
        ),
        {"progress": 2, "efficiency": 2, "novelty": 2},
    ),
    Canary(
        "read a text to its end",
        _evidence(
            dialog={"steps": 18, "opened": 1, "closed": 1, "texts": 1, "open_at_end": False},
            control={"steps_without": 18},
        ),
        {"dialog": 2, "progress": 0},
    ),
    Canary(
        "stayed in a text",
        _evidence(
            segment={"inputs": {"LEFT": 1.0}},
            end={"at": [24, 64]},
            movement={"pixels": 0, "idle_share": None, "path": [[24, 64], [24, 64]]},
            dialog={"steps": 75, "opened": 0, "closed": 0, "texts": 1, "open_at_end": True},
            control={"steps_without": 75},
        ),
        {"dialog": 0, "progress": 0},
    ),
    Canary(
        "opened a door with a button",
        _evidence(puzzle={"parts": {"buttons_pressed": [0, 1, 1]}, "events_done": 1}),
        {"puzzle": 2},
    ),
    Canary(
        "left a lit torch alone",
        _evidence(puzzle={"parts": {"torches_lit": [1, 1, 1]}}),
        {"puzzle": 0},
    ),
)
"""Low and high levels of every criterion."""
