"""Settings that a resumed run keeps, regardless of current defaults.

A field declares it: `Field(…, json_schema_extra=FIXED)`. Then the value at the last checkpoint is
used, not the default of the release that resumes the run.
"""

from typing import Any

from rlaif.service.settings import Setting

FIXED: dict[str, Any] = {"scope": "fixed"}
"""Shapes policy and checkpoint: a run cannot be resumed with another value."""

UNLESS_SET: dict[str, Any] = {"scope": "unless set"}
"""Determines what the critic learned to predict: another value may be set, but a new default has no
effect."""


def is_fixed(setting: Setting) -> bool:
    """Whether its value is fixed for the lifetime of a run."""
    return bool(setting.scope == FIXED["scope"])


def is_kept(setting: Setting) -> bool:
    """Whether a resumed run uses its previous value."""
    return setting.scope in (FIXED["scope"], UNLESS_SET["scope"])
