"""Which settings a run keeps, whatever the defaults are when it is resumed.

A field declares it: `Field(…, json_schema_extra=FIXED)`. Its value at the last checkpoint then
counts, and is not taken from the defaults of the release that resumes the run.
"""

from typing import Any

from rlaif.service.settings import Setting

FIXED: dict[str, Any] = {"scope": "fixed"}
"""Shapes policy and checkpoint: a run cannot be resumed with another value."""

UNLESS_SET: dict[str, Any] = {"scope": "unless set"}
"""Determines what the critic learned to predict: another value may be set, but a new default
changes nothing."""


def is_fixed(setting: Setting) -> bool:
    """Whether a run has one value of it for its lifetime."""
    return bool(setting.scope == FIXED["scope"])


def is_kept(setting: Setting) -> bool:
    """Whether a resumed run uses its own value."""
    return setting.scope in (FIXED["scope"], UNLESS_SET["scope"])
