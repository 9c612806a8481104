"""A search's tree of one way whose decisions a test made: what a search leaves, in a second."""

from collections.abc import Sequence
from pathlib import Path

from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import new_emulator
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.starts.power_on import bring_to_control
from rlaif.trainer.search.cell import cell_of, strength_of
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.search.opening import TREE, identity_of
from rlaif.trainer.search.session import Session
from rlaif.trainer.search.tree import Node, Tree


def tree_of_way(folder: Path, cartridge: Cartridge, sections: Sequence[Sequence[int]]) -> Path:
    """Write the tree of a way from power-on: a node after each stretch of decisions.

    Gives the tree's file.
    """
    emulator = new_emulator(cartridge)
    bring_to_control(emulator, cartridge)
    session = Session(emulator, RoomGraph())
    tree = Tree(folder / TREE, identity_of(cartridge))
    tree.begin()
    _add(tree, session, None)
    for section in sections:
        session.mark()
        for decision in section:
            assert session.play(decision), f"decision {decision} may not be made there"
            assert session.settle(), "the game does not come back"
        _add(tree, session, tree.next_id - 1)
    tree.commit()
    tree.close()
    emulator.close()
    return folder / TREE


def _add(tree: Tree, session: Session, parent: int | None) -> None:
    packed = pack_keyframe(session.save())
    cell = cell_of(session.ram)
    node = Node(
        id=tree.next_id,
        parent=parent,
        cell=cell.key,
        room=cell.group << 8 | cell.room,
        marks=marks_of(session.ram),
        strength=strength_of(session.ram),
        decisions=session.decisions,
        actions=session.actions,
        frames=session.frames,
        digest=session.digest(),
        found_at=session.frames,
    )
    tree.add(node)
    tree.put_state(node.id, packed.sha256, packed.data)
