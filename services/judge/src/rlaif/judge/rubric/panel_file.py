"""Judges from a file: models, routes, prompts and rubric as data.

    {"judges": [{"name": "state", "model": "qwen3-8b", "route": "/dialog",
                 "criteria": [{"name": "progress", "question": "…", "anchors": ["…", "…", "…"],
                               "abstain_when": "…"}],
                 "pictures": 0, "guide": "…", "context_tokens": 32768}]}

`pictures`, `guide` and `context_tokens` may be left out. The built-in judges in this form:
`python -m rlaif.judge.rubric.panel_file`.
"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from rlaif.contracts.scores import CRITERIA
from rlaif.judge.rubric.judges import GUIDE, JUDGES, Criterion, Judge

_CAP_BYTES = 256 * 1024


class PanelFileError(ValueError):
    """The file is not a panel; the text says what is wrong."""


class _Criterion(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    question: str
    anchors: tuple[str, str, str]
    abstain_when: str


class _Judge(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    model: str = Field(min_length=1)
    route: str = Field(pattern=r"^/[a-z0-9/-]*$")
    criteria: tuple[_Criterion, ...] = Field(min_length=1)
    pictures: int = Field(default=0, ge=0, le=12)
    guide: str = GUIDE
    context_tokens: int = Field(default=32768, ge=512)

    def judge(self) -> Judge:
        criteria = tuple(Criterion(**criterion.model_dump()) for criterion in self.criteria)
        return Judge(
            name=self.name,
            model=self.model,
            route=self.route,
            criteria=criteria,
            pictures=self.pictures,
            guide=self.guide,
            context_tokens=self.context_tokens,
        )


class _Panel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    judges: tuple[_Judge, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _covers_the_rubric_once(self) -> Self:
        names = [criterion.name for judge in self.judges for criterion in judge.criteria]
        if sorted(names) != sorted(CRITERIA):
            raise ValueError(f"criteria are {sorted(names)}; each of {sorted(CRITERIA)} once")
        if len({judge.name for judge in self.judges}) != len(self.judges):
            raise ValueError("two judges have the same name")
        return self


def read_panel(path: Path) -> tuple[Judge, ...]:
    """The judges of a file.

    Raises:
        PanelFileError: It cannot be read, or is not a panel that covers the rubric.
    """
    try:
        data = path.read_bytes()
        if len(data) > _CAP_BYTES:
            raise PanelFileError(f"{path} has {len(data)} bytes, more than {_CAP_BYTES}")
        panel = _Panel.model_validate_json(data)
    except OSError as error:
        raise PanelFileError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise PanelFileError(f"{path} is not a panel of judges: {error}") from error
    return tuple(judge.judge() for judge in panel.judges)


def as_json(judges: tuple[Judge, ...]) -> str:
    """Judges in the form of the file."""
    body: dict[str, Any] = {"judges": [asdict(judge) for judge in judges]}
    return TypeAdapter(dict[str, Any]).dump_json(body, indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(as_json(JUDGES))
