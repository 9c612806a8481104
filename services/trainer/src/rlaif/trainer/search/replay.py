"""Plays the way to a node again from power-on and compares: is the tree true?"""

from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.starts.power_on import bring_to_control
from rlaif.trainer.search.session import FRAMES
from rlaif.trainer.search.tree import Node, Tree
from rlaif.trainer.search.worker import UntrueWayError


def replay(tree: Tree, node: int, emulator: Emulator, cartridge: Cartridge) -> tuple[Node, ...]:
    """Play the way to a node on a freshly booted emulator, which is left at its end.

    Gives the nodes on the way, power-on first.

    Raises:
        UntrueWayError: The RAM differs from that of a node on the way.
        TreeError: A node on the way is missing.
    """
    bring_to_control(emulator, cartridge)
    way = tree.lineage(node)
    for each in way:
        for action in decode_actions(each.actions):
            emulator.step(action, FRAMES)
        found = emulator.ram_digest()
        if found != each.digest:
            raise UntrueWayError(
                f"after {each.frames} frames the RAM has digest {found[:12]}, node {each.id} has "
                f"{each.digest[:12]}: its record is wrong, or the emulator does not repeat itself"
            )
    return way
