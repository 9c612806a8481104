"""Which settings a run keeps, whatever the defaults are when it is resumed.

A field says so itself: `Field(…, json_schema_extra=FIXED)`. Its value at the last checkpoint then
counts, and is not taken from the defaults of the release that resumes it.
"""

from typing import Any

from rlaif.service.settings import Setting

_MARK = "run_keeps"

FIXED: dict[str, Any] = {_MARK: "fixed"}
"""Shapes policy and checkpoint: another value cannot resume the run, and is refused."""

UNLESS_SET: dict[str, Any] = {_MARK: "unless set"}
"""Says what the critic learned to predict: another value may be set, a new default changes nothing.
"""


def is_fixed(setting: Setting) -> bool:
    """Whether a run has one value of it for ever."""
    return bool(_mark(setting) == FIXED[_MARK])


def is_kept(setting: Setting) -> bool:
    """Whether a resumed run takes its own value."""
    return _mark(setting) is not None


def _mark(setting: Setting) -> object:
    extra = setting.field.json_schema_extra
    return extra.get(_MARK) if isinstance(extra, dict) else None
