"""Results of a search of the game.

A search plays from saved states to new ones. The first states with some lasting flag, such as an
item or an opened door, form its tree of progress.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from rlaif.contracts.model import Contract, Count, Seconds

MARK_CHARACTERS = 48
MARKS_OF_A_NODE = 8
MAX_TREE_NODES = 300
"""A full tree takes at most 170 kB; NATS and the training process's lines allow 1 MB."""

MarkName = Annotated[str, StringConstraints(pattern=rf"^[ -~]{{1,{MARK_CHARACTERS}}}$")]
"""Printable ASCII, such as `sword` or `item in room 5/C7`."""

Node = Annotated[int, Field(ge=0, lt=2**53)]
"""Number of a saved state of the search; JavaScript cannot represent larger ones exactly."""


class TreeNode(Contract):
    """The first saved state with some flag."""

    node: Node
    parent: Node | None = Field(
        description="Nearest node of this tree on its trajectory; null: power-on."
    )
    frames: Count = Field(description="Game frames searched until it was found.")
    seconds: Seconds = Field(description="Time searched until then.")
    level: float = Field(ge=0, description="Progress score, used to select start states.")
    marks: tuple[MarkName, ...] = Field(
        max_length=MARKS_OF_A_NODE, description="Flags without an earlier state."
    )
    marks_left_out: Count = Field(default=0, description="Further flags, not reported.")


class SearchFigures(Contract):
    """State of a search, over all its attempts."""

    running: bool
    frames: Count = Field(description="Game frames at 60 Hz, played by all its workers.")
    seconds: Seconds = Field(description="Time searched.")
    seconds_left: Seconds | None = Field(
        default=None, description="Time until its end at the latest; null: no limit."
    )
    workers: Count = Field(description="Processes that currently play for it.")
    nodes: Count = Field(description="Saved states.")
    level: float = Field(ge=0, description="Highest progress score of its nodes.")
    marks: Count = Field(description="Different lasting flags of its nodes.")
    found_seconds: Seconds | None = Field(
        default=None, description="Value of `seconds` at its newest flag; null: none yet."
    )
    tree: tuple[TreeNode, ...] = Field(
        default=(),
        max_length=MAX_TREE_NODES,
        description="The tree of progress, in order of discovery: a parent comes first.",
    )
    tree_left_out: Count = Field(default=0, description="Nodes of the tree, not reported.")
