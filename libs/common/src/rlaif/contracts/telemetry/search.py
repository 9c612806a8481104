"""Results of a search of the game.

A search plays from saved states to saved states. Some of them are the first that have a lasting
mark, such as an item or an opened door: those, and which came out of which, are its tree of
progress.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from rlaif.contracts.model import Contract

MARK_CHARACTERS = 48
MARKS_OF_A_NODE = 8
MAX_TREE_NODES = 300
"""A full tree is 170 kB at most; NATS takes 1 MB, and so does a line of the training process."""

MarkName = Annotated[str, StringConstraints(pattern=rf"^[ -~]{{1,{MARK_CHARACTERS}}}$")]
"""Printable ASCII, such as `sword` or `item in room 5/C7`."""

Node = Annotated[int, Field(ge=0, lt=2**53)]
"""Number of a saved state of the search; 2**53 is where JavaScript stops telling them apart."""


class TreeNode(Contract):
    """A saved state that was the first to have some mark."""

    node: Node
    parent: Node | None = Field(
        description="The nearest node of this tree that it came out of; null: power-on."
    )
    frames: int = Field(ge=0, description="Game frames that were searched until it was found.")
    seconds: float = Field(ge=0, description="Time that was searched until then.")
    level: float = Field(ge=0, description="How far it is, as the search draws by it.")
    marks: tuple[MarkName, ...] = Field(
        max_length=MARKS_OF_A_NODE, description="What no state before it had."
    )
    marks_left_out: int = Field(default=0, ge=0, description="Further ones that are not reported.")


class SearchFigures(Contract):
    """Where a search stands, over all its attempts."""

    running: bool = Field(description="False once it is over; what it found stays.")
    frames: int = Field(ge=0, description="Game frames at 60 Hz, played by all its workers.")
    seconds: float = Field(ge=0, description="Time that it searched.")
    seconds_left: float | None = Field(
        default=None, ge=0, description="To its end at the latest; null: none is set."
    )
    workers: int = Field(ge=0, description="Processes that play for it now.")
    nodes: int = Field(ge=0, description="Saved states that it kept.")
    level: float = Field(ge=0, description="The highest of its nodes.")
    marks: int = Field(ge=0, description="Different lasting marks that some node has.")
    found_seconds: float | None = Field(
        default=None, ge=0, description="Of `seconds`, at its newest new mark; null: none yet."
    )
    tree: tuple[TreeNode, ...] = Field(
        default=(),
        max_length=MAX_TREE_NODES,
        description="The tree of progress, in the order of its finds: a parent comes first.",
    )
    tree_left_out: int = Field(
        default=0, ge=0, description="Nodes of the tree that are not reported."
    )
