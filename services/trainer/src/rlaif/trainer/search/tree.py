"""The tree of all discoveries in one file: nodes, how each was reached, and save states.

    tree.sqlite   header | marks | nodes | cells | states | groups | progress

A node is a stored state of the game: its parent, the decisions and the buttons since the parent,
and the digest of the RAM. `cells` holds the node that represents each cell. Some nodes have a save
state; the others are reached from the nearest ancestor that has one. `groups` holds a RAM and the
rating of each group of cells (`ratings.py`), `progress` the counters and random state of the
search. All writes are transactions, so a killed search resumes
from the last one and nothing is half-written.

The size is bounded: after cells were dropped, `sweep` deletes the nodes that lead to no cell.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from rlaif.game.captures.capture import KeyframeError, unpack_keyframe
from rlaif.trainer.search.marks import Marks

_VERSION = 3
_TABLES = """
CREATE TABLE IF NOT EXISTS header (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS marks (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS nodes (
    id INTEGER PRIMARY KEY, parent INTEGER, cell BLOB NOT NULL, room INTEGER NOT NULL,
    marks INTEGER NOT NULL, strength REAL NOT NULL, decisions BLOB NOT NULL, actions TEXT NOT NULL,
    frames INTEGER NOT NULL, digest TEXT NOT NULL, found_at INTEGER NOT NULL, place BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS cells (cell BLOB PRIMARY KEY, node INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS states (
    node INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, packed BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS groups (
    marks INTEGER NOT NULL, room INTEGER NOT NULL, ram BLOB NOT NULL,
    asked INTEGER NOT NULL DEFAULT 0, rating REAL, PRIMARY KEY (marks, room)
);
CREATE TABLE IF NOT EXISTS progress (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class TreeError(Exception):
    """The tree belongs to another game or version, or lacks the requested node."""


@dataclass(frozen=True)
class Node:
    """A stored state, and how it was reached from its parent."""

    id: int
    parent: int | None  # None for power-on
    cell: bytes
    room: int  # group << 8 | room
    marks: Marks
    strength: float
    decisions: tuple[tuple[int, int], ...]  # (decision, emulator steps) since the parent
    actions: str  # one digit per emulator step of four frames since the parent
    frames: int  # since power-on
    digest: str  # of the RAM
    found_at: int  # frames that the search had played until then
    place: bytes = b""  # the cell without its flags


class Start(NamedTuple):
    """A node that represents a cell, without how it was reached."""

    node: int
    cell: bytes
    place: bytes
    room: int
    marks: Marks
    strength: float
    frames: int
    digest: str


class Group(NamedTuple):
    """Cells with the same large flags in one room."""

    marks: Marks
    room: int
    ram: bytes  # packed, of the first state that was found
    asked: bool  # whether a judge was asked for its rating
    rating: float | None  # None without an answer


class Tree:
    """The tree, as seen by the one process that writes it."""

    def __init__(self, path: Path, identity: dict[str, str]) -> None:
        """Open or create a tree.

        `identity` identifies game and emulator, on which its states depend.

        Raises:
            TreeError: It was created with another identity.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._open(sqlite3.connect(path, isolation_level=None))
        try:
            self._sql.execute("PRAGMA journal_mode=WAL")
            self._sql.execute("PRAGMA synchronous=NORMAL")
            self._sql.executescript(f"BEGIN; {_TABLES} COMMIT;")
            self._check(identity | {"version": str(_VERSION)}, path)
            self._read_numbers()
        except BaseException:
            self.close()
            raise

    def _open(self, sql: sqlite3.Connection) -> None:
        self._sql = sql
        self._marks: dict[int, Marks] = {}
        self._numbers: dict[Marks, int] = {}
        self._next = 0

    def _read_numbers(self) -> None:
        for number, names in self._sql.execute("SELECT id, names FROM marks").fetchall():
            marks = frozenset(json.loads(names))
            self._marks[number], self._numbers[marks] = marks, number
        (last,) = self._sql.execute("SELECT MAX(id) FROM nodes").fetchone()
        self._next = 0 if last is None else last + 1

    @classmethod
    def reading(cls, path: Path) -> Self:
        """Open a tree read-only, even while a search writes to it.

        It is a snapshot: later additions are not visible.

        Raises:
            TreeError: There is none, or one of another version.
        """
        tree = cls.__new__(cls)
        try:
            tree._open(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))
            try:
                tree._sql.execute("BEGIN")
                tree._check({"version": str(_VERSION)}, path)
                tree._read_numbers()
            except (sqlite3.Error, TreeError):
                tree.close()
                raise
        except sqlite3.Error as error:
            raise TreeError(f"no search tree at {path}: {error}") from error
        return tree

    def __len__(self) -> int:
        (count,) = self._sql.execute("SELECT COUNT(*) FROM nodes").fetchone()
        return int(count)

    def __contains__(self, node: int) -> bool:
        found = self._sql.execute("SELECT 1 FROM nodes WHERE id = ?", (node,)).fetchone()
        return found is not None

    @property
    def next_id(self) -> int:
        return self._next

    @property
    def starts(self) -> Iterator[Start]:
        """The nodes that represent cells, oldest first."""
        rows = self._sql.execute(
            "SELECT id, nodes.cell, place, room, marks, strength, frames, digest"
            " FROM nodes JOIN cells ON node = id ORDER BY id"
        )
        for node, cell, place, room, marks, *rest in rows.fetchall():
            yield Start(node, cell, place, room, self._marks[marks], *rest)

    def frames(self) -> list[tuple[int, int]]:
        """Return (node, game frames since power-on) of all nodes."""
        return self._sql.execute("SELECT id, frames FROM nodes").fetchall()

    def parents(self, after: int = -1) -> dict[int, int | None]:
        """Return the parent of each node with a number above `after`."""
        rows = self._sql.execute("SELECT id, parent FROM nodes WHERE id > ?", (after,))
        return dict(rows.fetchall())

    def rooms(self) -> list[int]:
        return [row[0] for row in self._sql.execute("SELECT DISTINCT room FROM nodes").fetchall()]

    def begin(self) -> None:
        """Begin a transaction, unless one is open."""
        if not self._sql.in_transaction:
            self._sql.execute("BEGIN")

    def commit(self) -> None:
        if self._sql.in_transaction:
            self._sql.execute("COMMIT")

    def add(self, node: Node, *, stands: bool = True) -> None:
        """Store a node and, if `stands`, make it represent its cell."""
        marks = self._number(node.marks)
        decisions = np.asarray(node.decisions, dtype="<u2").tobytes()
        row = (
            node.id, node.parent, node.cell, node.room, marks, node.strength,
            decisions, node.actions, node.frames, node.digest, node.found_at, node.place,
        )  # fmt: skip
        self._sql.execute("INSERT INTO nodes VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", row)
        if stands:
            self._sql.execute("INSERT OR REPLACE INTO cells VALUES (?,?)", (node.cell, node.id))
        self._next = max(self._next, node.id + 1)

    def put_state(self, node: int, sha256: str, packed: bytes) -> None:
        self._sql.execute("INSERT OR REPLACE INTO states VALUES (?,?,?)", (node, sha256, packed))

    def groups(self) -> Iterator[Group]:
        """The groups, in the order in which they were found."""
        rows = self._sql.execute(
            "SELECT marks, room, ram, asked, rating FROM groups ORDER BY rowid"
        )
        for marks, room, ram, asked, rating in rows.fetchall():
            yield Group(self._marks[marks], room, bytes(ram), bool(asked), rating)

    def add_group(self, marks: Marks, room: int, ram: bytes) -> None:
        self._sql.execute(
            "INSERT INTO groups (marks, room, ram) VALUES (?,?,?)", (self._number(marks), room, ram)
        )

    def put_rating(self, marks: Marks, room: int, rating: float | None) -> None:
        """Store the answer of a judge; None if it abstained."""
        self._sql.execute(
            "UPDATE groups SET asked = 1, rating = ? WHERE marks = ? AND room = ?",
            (rating, self._number(marks), room),
        )

    def nearest_state(self, node: int) -> tuple[int, str]:
        """Return the nearest ancestor with a save state, and the buttons from there to the node.

        The node itself counts as its nearest ancestor.

        Raises:
            TreeError: A node is missing, or no ancestor has a save state.
        """
        actions: list[str] = []
        at: int | None = node
        while at is not None:
            row = self._sql.execute(
                "SELECT parent, actions, (SELECT 1 FROM states WHERE node = id) FROM nodes"
                " WHERE id = ?",
                (at,),
            ).fetchone()
            if row is None:
                raise TreeError(f"node {at} is not in the tree")
            if row[2]:
                return at, "".join(reversed(actions))
            actions.append(row[1])
            at = row[0]
        raise TreeError(f"node {node} and its ancestors have no save state")

    def node(self, number: int) -> Node:
        """Return a node; TreeError if it is missing."""
        row = self._sql.execute("SELECT * FROM nodes WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise TreeError(f"node {number} is not in the tree")
        return self._node(row)

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes, oldest first."""
        for row in self._sql.execute("SELECT * FROM nodes ORDER BY id").fetchall():
            yield self._node(row)

    def state(self, node: int) -> bytes:
        """Return the save state of a node, verified by its digest; TreeError if there is none."""
        sha256, packed = self.packed(node)
        try:
            return unpack_keyframe(packed, sha256)
        except KeyframeError as error:
            raise TreeError(f"the state of node {node} is damaged: {error}") from error

    def packed(self, node: int) -> tuple[str, bytes]:
        """Return digest and packed form of a node's save state."""
        row = self._sql.execute(
            "SELECT sha256, packed FROM states WHERE node = ?", (node,)
        ).fetchone()
        if row is None:
            raise TreeError(f"node {node} has no state")
        return str(row[0]), bytes(row[1])

    def drop_cell(self, cell: bytes) -> None:
        """Drop a cell; its node remains until the next sweep."""
        self._sql.execute("DELETE FROM cells WHERE cell = ?", (cell,))

    def lineage(self, node: int) -> tuple[Node, ...]:
        """Return the nodes from power-on to a node, in order."""
        chain = [self.node(node)]
        while chain[-1].parent is not None:
            chain.append(self.node(chain[-1].parent))
        return tuple(reversed(chain))

    def sweep(self, needed: Collection[int] = ()) -> int:
        """Delete the nodes that lead neither to a cell nor to a needed node; return the count."""
        parents = dict(self._sql.execute("SELECT id, parent FROM nodes").fetchall())
        kept: set[int] = set()
        ends = [row[0] for row in self._sql.execute("SELECT node FROM cells").fetchall()]
        for end in (*ends, *needed):
            at: int | None = end
            while at is not None and at not in kept:
                kept.add(at)
                at = parents[at]
        lost = [(node,) for node in parents if node not in kept]
        self._sql.executemany("DELETE FROM nodes WHERE id = ?", lost)
        self._sql.executemany("DELETE FROM states WHERE node = ?", lost)
        return len(lost)

    def write_progress(self, values: dict[str, Any]) -> None:
        """Store JSON values by name."""
        rows = [(name, json.dumps(value)) for name, value in values.items()]
        self._sql.executemany("INSERT OR REPLACE INTO progress VALUES (?,?)", rows)

    def progress(self, name: str) -> Any:
        """Return a stored value, or None."""
        row = self._sql.execute("SELECT value FROM progress WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def copy(self, path: Path) -> None:
        """Copy it into a new file; outside of a transaction."""
        self._sql.execute("VACUUM INTO ?", (str(path),))

    def close(self) -> None:
        """Close the file; uncommitted writes are lost."""
        self._sql.close()

    def _node(self, row: tuple[Any, ...]) -> Node:
        number, parent, cell, room, marks, strength, played, *rest = row
        actions, frames, digest, found_at, place = rest
        decisions = np.frombuffer(played, dtype="<u2").reshape(-1, 2).tolist()
        return Node(
            id=number,
            parent=parent,
            cell=bytes(cell),
            room=room,
            marks=self._marks[marks],
            strength=strength,
            decisions=tuple((index, steps) for index, steps in decisions),
            actions=actions,
            frames=frames,
            digest=digest,
            found_at=found_at,
            place=bytes(place),
        )

    def _number(self, marks: Marks) -> int:
        number = self._numbers.get(marks)
        if number is None:
            number = len(self._numbers)
            names = json.dumps(sorted(marks))
            self._sql.execute("INSERT INTO marks VALUES (?,?)", (number, names))
            self._numbers[marks], self._marks[number] = number, marks
        return number

    def _check(self, identity: dict[str, str], path: Path) -> None:
        found = dict(self._sql.execute("SELECT name, value FROM header").fetchall())
        if not found:
            self._sql.execute("BEGIN")
            self._sql.executemany("INSERT INTO header VALUES (?,?)", identity.items())
            self._sql.execute("COMMIT")
            return
        for name, value in identity.items():
            if found.get(name) != value:
                self._sql.close()
                raise TreeError(
                    f"{path} was created with {name} {found.get(name)}, this search has {value}: "
                    "choose another folder, or delete the file"
                )


@contextmanager
def read_tree(path: Path) -> Iterator[Tree]:
    """Context manager around `Tree.reading`."""
    tree = Tree.reading(path)
    try:
        yield tree
    finally:
        tree.close()
