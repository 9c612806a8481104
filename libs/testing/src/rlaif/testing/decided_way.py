"""The tree file of a search with one trajectory of decisions chosen by a test."""

from collections.abc import Sequence
from pathlib import Path

from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.decisions.mask import allowed
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.memory.predicates import has_control
from rlaif.game.starts.power_on import bring_to_control
from rlaif.trainer.curriculum.player import Play, Player
from rlaif.trainer.search.cell import cell_of, strength_of
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.search.opening import TREE, identity_of
from rlaif.trainer.search.tree import Node, Tree
from rlaif.trainer.settings.game import GameSettings


def tree_of_way(folder: Path, cartridge: Cartridge, sections: Sequence[Sequence[int]]) -> Path:
    """Write the tree of a trajectory from power-on, with a node after each group of decisions.

    Returns the path of the tree's file.
    """
    player = Player(GameSettings(rom_path=cartridge.path))
    bring_to_control(player.game.emulator, cartridge)
    player.begin(player.save())
    tree = Tree(folder / TREE, identity_of(cartridge))
    tree.begin()
    _add(tree, player, [])
    for section in sections:
        plays = []
        for decision in section:
            assert allowed(player.ram, "macros")[decision], f"{decision} may not be made there"
            plays.append(player.decide(decision))
            assert has_control(player.ram), "the game does not come back"
        _add(tree, player, plays)
    tree.commit()
    tree.close()
    player.close()
    return folder / TREE


def _add(tree: Tree, player: Player, plays: Sequence[Play]) -> None:
    packed = pack_keyframe(player.save())
    cell = cell_of(player.ram)
    node = Node(
        id=tree.next_id,
        parent=tree.next_id - 1 if plays else None,
        cell=cell.key,
        room=cell.group << 8 | cell.room,
        marks=marks_of(player.ram),
        strength=strength_of(player.ram),
        decisions=tuple((play.decision, len(play.buttons)) for play in plays),
        actions="".join(play.buttons for play in plays),
        frames=player.game.frames,
        digest=player.digest(),
        found_at=player.game.frames,
    )
    tree.add(node)
    tree.put_state(node.id, packed.sha256, packed.data)
