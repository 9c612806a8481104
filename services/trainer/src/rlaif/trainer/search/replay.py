"""Replays the trajectory to a node from power-on and verifies the digests."""

from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.starts.power_on import bring_to_control
from rlaif.trainer.search.session import play_step
from rlaif.trainer.search.tree import Node, Tree
from rlaif.trainer.search.worker import ReplayMismatchError


def replay(tree: Tree, node: int, emulator: Emulator, cartridge: Cartridge) -> tuple[Node, ...]:
    """Play the trajectory to a node on a freshly booted emulator, which is left at its end.

    Returns:
        The nodes along the trajectory, power-on first.

    Raises:
        ReplayMismatchError: The RAM differs from that of a node on the trajectory.
        TreeError: A node on the trajectory is missing.
    """
    bring_to_control(emulator, cartridge)
    path = tree.lineage(node)
    for each in path:
        for action in decode_actions(each.actions):
            play_step(emulator, action)
        found = emulator.ram_digest()
        if found != each.digest:
            raise ReplayMismatchError(
                f"after {each.frames} frames the RAM has digest {found[:12]}, node {each.id} has "
                f"{each.digest[:12]}: the record is wrong, or the emulator is not deterministic"
            )
    return path
