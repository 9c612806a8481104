"""The eight actions, from which the policy chooses and which a capture stores."""

from enum import IntEnum


class Action(IntEnum):
    """One decision. The number is the digit in a capture; it never changes."""

    UP = 0
    DOWN = 1
    LEFT = 2
    RIGHT = 3
    A = 4
    B = 5
    START = 6
    NOP = 7


ACTION_NAMES: tuple[str, ...] = tuple(action.name for action in Action)
"""Names by number: `ACTION_NAMES[0] == "UP"`."""

DIRECTIONS = frozenset({Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT})
"""The d-pad: held for a whole emulator step."""

BUTTONS: tuple[str | None, ...] = ("up", "down", "left", "right", "a", "b", "start", None)
"""The emulator's button name by action number; None presses nothing."""


def encode_actions(actions: list[int] | tuple[int, ...]) -> str:
    """One digit per action, as in a capture; ValueError unless all are 0 to 7."""
    return "".join(str(Action(action).value) for action in actions)


def decode_actions(digits: str) -> list[Action]:
    """Parse the output of `encode_actions`; ValueError unless all digits are 0 to 7."""
    return [Action(int(digit)) for digit in digits]
