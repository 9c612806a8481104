"""The judges and their rubric, read from a JSON file.

    {"judges": [{"name": "state", "model": "qwen3-8b", "route": "/dialog",
                 "criteria": [{"name": "progress", "question": "…", "anchors": ["…", "…", "…"],
                               "abstain_when": "…"}],
                 "pictures": 0, "guide": "…", "context_tokens": 32768,
                 "asks_quest": true, "objectives": 0}]}

Fields from `pictures` on are optional. With `asks_quest` the judge of progress reports positions on
the quest, in games with a guide; `objectives` is the number of objectives in its own `guide`, if
that is the guide of a game. `python -m rlaif.judge.rubric.judges` prints the built-in judges from
`panel.json` and `rules.txt`: a 7B model judges states, a 32B model puzzles, a vision model
pictures. Criteria have three anchored levels; with more, language models are less accurate.
"""

import sys
from collections.abc import Container, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from rlaif.contracts.judging.scores import CRITERIA, PROGRESS
from rlaif.guides.guides import guide_of

LEVELS = (0, 1, 2)
"""Levels of a criterion."""
INSUFFICIENT = "insufficient_evidence"
"""Answer of a judge if the evidence is insufficient for a criterion."""

_FILES = resources.files(__package__)
_CAP_BYTES = 256 * 1024

RULES = (_FILES / "rules.txt").read_text(encoding="utf-8")
"""Built-in start of every prompt, followed by the guide of the game."""
QUEST = (_FILES / "quest.txt").read_text(encoding="utf-8").rstrip("\n")
"""Questions for positions on the quest, a format string."""
COMPARISON = (_FILES / "comparison.txt").read_text(encoding="utf-8")
"""Question which of two segments is better, a format string."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Criterion:
    """One row of the rubric; the anchors describe the levels 0, 1 and 2."""

    name: str
    question: str
    anchors: tuple[str, str, str]
    abstain_when: str


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Judge:
    """One language model with its criteria.

    Attributes:
        route: Path below `LLM_BASE_URL`, if the judge has no URL of its own.
        pictures: Pictures in its strip; 0 for no strip.
        guide: Start of its prompt: the rules and, once it is briefed, the guide of the game.
        context_tokens: Size of the model's context, for prompt and answer.
        asks_quest: Whether it reports positions on the quest, in games with a guide.
        objectives: Numbered objectives in `guide`; 0 for none. If a panel file sets it, no guide of
            a game is added.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    model: str = Field(min_length=1)
    route: str = Field(pattern=r"^/[a-z0-9/-]*$")
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    pictures: int = Field(default=0, ge=0, le=12)
    guide: str = RULES
    context_tokens: int = Field(default=32768, ge=512)
    asks_quest: bool = False
    objectives: int = Field(default=0, ge=0, le=200)

    def answers_for(self, criterion: str) -> bool:
        return any(mine.name == criterion for mine in self.criteria)

    @property
    def tells_quest(self) -> bool:
        """Whether it reports positions on the quest instead of a level of progress."""
        return self.asks_quest and self.objectives > 0 and self.answers_for(PROGRESS)

    @property
    def rated(self) -> tuple[Criterion, ...]:
        """Criteria that it rates with a level."""
        told = PROGRESS if self.tells_quest else None
        return tuple(criterion for criterion in self.criteria if criterion.name != told)


class PanelFileError(ValueError):
    """The file is invalid; the message has the reason."""


class _Panel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    judges: tuple[Judge, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _covers_the_rubric_once(self) -> Self:
        names = [criterion.name for judge in self.judges for criterion in judge.criteria]
        if sorted(names) != sorted(CRITERIA):
            raise ValueError(f"criteria are {sorted(names)}; each of {sorted(CRITERIA)} once")
        if len({judge.name for judge in self.judges}) != len(self.judges):
            raise ValueError("two judges have the same name")
        for judge in self.judges:
            if judge.asks_quest and not judge.answers_for(PROGRESS):
                raise ValueError(f"{judge.name} asks for the quest and has no criterion progress")
        return self


JUDGES = _Panel.model_validate_json((_FILES / "panel.json").read_bytes()).judges
"""The built-in judges. The model of the state judge is served at `/dialog`."""


def read_panel(path: Path) -> tuple[Judge, ...]:
    """Read judges that cover the rubric; raises PanelFileError."""
    try:
        data = path.read_bytes()
        if len(data) > _CAP_BYTES:
            raise PanelFileError(f"{path} has {len(data)} bytes, more than {_CAP_BYTES}")
        return _Panel.model_validate_json(data).judges
    except OSError as error:
        raise PanelFileError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise PanelFileError(f"{path} is not a panel of judges: {error}") from error


def as_json(judges: tuple[Judge, ...]) -> str:
    """Judges in the format of the file."""
    return _Panel(judges=judges).model_dump_json(indent=2) + "\n"


@lru_cache(maxsize=64)
def briefed(judge: Judge, game: str | None) -> Judge:
    """The judge with the guide of the game appended to its rules.

    Returned unchanged if the game has no guide with objectives or the judge is already briefed.
    """
    guide = guide_of(game)
    if judge.objectives or not guide.objectives:
        return judge
    text = f"{judge.guide}\n{guide.text}"
    return replace(judge, guide=text, objectives=len(guide.objectives))


def without(judge: Judge, criteria: Container[str]) -> Judge | None:
    """The judge without these criteria; None if none is left."""
    left = tuple(criterion for criterion in judge.criteria if criterion.name not in criteria)
    return replace(judge, criteria=left) if left else None


def with_models(judges: tuple[Judge, ...], models: Mapping[str, str]) -> tuple[Judge, ...]:
    """The judges with the models of `models` (judge name → model)."""
    return tuple(replace(judge, model=models.get(judge.name, judge.model)) for judge in judges)


if __name__ == "__main__":
    sys.stdout.write(as_json(JUDGES))
