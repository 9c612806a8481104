"""Provenance of a run, for reproduction, and its description by users."""

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from rlaif.contracts.model import Contract

Tag = Annotated[str, StringConstraints(pattern=r"^[\w.:/+-]{1,40}$")]
"""A word, such as `baseline` or `lr:3e-4`."""


class RunProvenance(Contract):
    """Inputs that determine a run, at the start of an attempt."""

    seed: int
    game: str | None = Field(max_length=64, description="Name of the game; null: file missing.")
    settings: dict[str, str] = Field(
        description="Effective settings of the run by variable, without credentials and "
        "machine-specific ones."
    )
    command: str = Field(description="Starts a run with these settings in a shell.")
    commit: str | None = Field(
        description="Git commit of the sources, with -dirty after changes; null: not a checkout."
    )
    packages: dict[str, str] = Field(description="Package → version; also python.")
    host: str = Field(description="Machine, system and number of cores.")


def _text(given: object) -> object:
    """Without blanks around it; None if nothing is left, as pages would show an empty link."""
    return (given.strip() or None) if isinstance(given, str) else given


Text = Annotated[str | None, BeforeValidator(_text)]


class RunDescription(Contract):
    """Name, note and tags of a run."""

    name: Text = Field(default=None, max_length=80)
    note: Text = Field(default=None, max_length=2000)
    tags: tuple[Tag, ...] = Field(default=(), max_length=20)
