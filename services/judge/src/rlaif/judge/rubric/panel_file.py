"""Judges from a JSON file: models, routes, prompts and rubric.

    {"judges": [{"name": "state", "model": "qwen3-8b", "route": "/dialog",
                 "criteria": [{"name": "progress", "question": "…", "anchors": ["…", "…", "…"],
                               "abstain_when": "…"}],
                 "pictures": 0, "guide": "…", "context_tokens": 32768,
                 "asks_quest": true, "objectives": 0}]}

Fields from `pictures` on are optional. With `asks_quest` the judge of progress reports positions on
the quest, in games with a guide; `objectives` is the number of objectives in its own `guide`, if
that is the guide of a game. `python -m rlaif.judge.rubric.panel_file` prints the built-in judges.
"""

import sys
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rlaif.contracts.judging.scores import CRITERIA
from rlaif.judge.rubric.judges import JUDGES, PROGRESS, Judge

_CAP_BYTES = 256 * 1024


class PanelFileError(ValueError):
    """The file is invalid; the message says why."""


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
            if judge.asks_quest and not judge.answers_for(PROGRESS.name):
                raise ValueError(f"{judge.name} asks for the quest and has no criterion progress")
        return self


def read_panel(path: Path) -> tuple[Judge, ...]:
    """Read judges that cover the rubric, else PanelFileError."""
    try:
        data = path.read_bytes()
        if len(data) > _CAP_BYTES:
            raise PanelFileError(f"{path} has {len(data)} bytes, more than {_CAP_BYTES}")
        panel = _Panel.model_validate_json(data)
    except OSError as error:
        raise PanelFileError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise PanelFileError(f"{path} is not a panel of judges: {error}") from error
    return panel.judges


def as_json(judges: tuple[Judge, ...]) -> str:
    """Judges in the format of the file."""
    return _Panel(judges=judges).model_dump_json(indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(as_json(JUDGES))
