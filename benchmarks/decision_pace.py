"""CPU time of decisions compared with the emulator, and health lost in fights.

    python benchmarks/decision_pace.py --decisions 40

From states of the walkthrough, one every 700 frames, decisions of the action set `options` are
played, drawn evenly by family: first with unknown rooms, then the same again with all rooms known.
It measures the CPU time per emulator step of masks and decisions and of the emulator. Then every
enemy of the walkthrough is fought, and the boss from states 3 frames apart.
"""

import random
import sys
import time
from dataclasses import dataclass

import numpy as np
from outcome import finish, parser_of, say
from scenes import WALKTHROUGH

from rlaif.game.decisions.catalog import DECISIONS, FIGHT
from rlaif.game.decisions.mask import allowed
from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import new_emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.entities import enemies
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_dying
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.testing.data.walkthrough import pressed

HEALTH, GROUP, ROOM = address("wLinkHealth"), address("wActiveGroup"), address("wActiveRoom")
BASE_FRAMES, LOOK_EVERY = 4, 20
MOMENTS_EVERY, FIGHTS_EVERY = 700, 300
BOSS, BOSS_FIGHTS = 0x78, 24
MAX_FIGHTS = 12


@dataclass
class Costs:
    """Totals of one pass: CPU seconds, base steps, quarter hearts."""

    beside: float = 0.0
    emulator: float = 0.0
    steps: int = 0
    hearts: int = 0

    def figures(self) -> dict[str, float]:
        """Microseconds per base step."""
        return {
            "beside_the_emulator": round(1e6 * self.beside / self.steps, 1),
            "emulator": round(1e6 * self.emulator / self.steps, 1),
        }


class Player:
    """Plays decisions on the cartridge and measures the time."""

    def __init__(self) -> None:
        self.emulator, self.graph = new_emulator(load_cartridge()), RoomGraph()
        self.costs = Costs()

    def decide(self, index: int, ram: RamBlocks) -> RamBlocks:
        """Play a decision to its end."""
        costs, clock = self.costs, time.thread_time
        begun, health = clock(), ram.u8(HEALTH)
        option = carry_out(index, ram, graph=self.graph)
        while not (choice := option.next(ram)).over:
            costs.beside += clock() - begun
            begun = clock()
            self.emulator.step(choice.action, BASE_FRAMES)
            costs.emulator += clock() - begun
            begun = clock()
            ram = read_blocks(self.emulator)
            costs.steps += 1
            costs.hearts += max(0, health - ram.u8(HEALTH))
            health = ram.u8(HEALTH)
        costs.beside += clock() - begun
        return ram

    def play(self, states: list[bytes], decisions: int, seed: int) -> Costs:
        """Play `count` decisions from each state, with families drawn evenly."""
        rng, self.costs = random.Random(seed), Costs()
        for state in states:
            self.emulator.load_state(state)
            for _ in range(decisions):
                ram = read_blocks(self.emulator)
                begun = time.thread_time()
                can = allowed(ram, "options")
                self.costs.beside += time.thread_time() - begun
                by_family: dict[str, list[int]] = {}
                for index in np.flatnonzero(can).tolist():
                    by_family.setdefault(DECISIONS[index].family, []).append(index)
                self.decide(rng.choice(by_family[rng.choice(sorted(by_family))]), ram)
        return self.costs

    def fight(self, state: bytes, wait: int = 0) -> tuple[int, int, int]:
        """Fight all enemies of a room; return enemies, beaten ones and quarter hearts lost."""
        self.emulator.load_state(state)
        self.emulator.tick(wait)
        self.costs, ram = Costs(), read_blocks(self.emulator)
        room, met = _room(ram), _alive(ram)
        for _ in range(MAX_FIGHTS):
            if not _alive(ram) or is_dying(ram) or _room(ram) != room:
                break
            ram = self.decide(FIGHT, ram)
        left = met if is_dying(ram) else _alive(ram)
        return met, met - left, self.costs.hearts


def _alive(ram: RamBlocks) -> int:
    return sum(1 for enemy in enemies(ram) if enemy.health)


def _room(ram: RamBlocks) -> tuple[int, int]:
    return ram.u8(GROUP), ram.u8(ROOM)


def moments() -> tuple[list[bytes], list[bytes], bytes]:
    """States of the walkthrough: every 700 frames, at enemies, and before the boss."""
    emulator, boss = new_emulator(load_cartridge()), b""
    every: list[bytes] = []
    met: dict[tuple[int, int, int], int] = {}
    fights: list[bytes] = []
    for frame, action in enumerate(pressed(WALKTHROUGH), start=1):
        emulator.step(action, 1)
        if frame % MOMENTS_EVERY == 0:
            every.append(emulator.save_state())
        if frame % LOOK_EVERY:
            continue
        ram = read_blocks(emulator)
        if allowed(ram, "options")[FIGHT]:
            key = (*_room(ram), _alive(ram))
            if frame - met.get(key, -FIGHTS_EVERY) >= FIGHTS_EVERY:
                met[key] = frame
                fights.append(emulator.save_state())
            if not boss and any(enemy.id == BOSS for enemy in enemies(ram)):
                boss = emulator.save_state()
    emulator.close()
    return every[2:], fights, boss


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--decisions", type=int, default=40, help="from each moment")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    states, fights, boss = moments()
    player, figures = Player(), {}
    for name in ("rooms_met_first", "rooms_known"):
        figures[name] = player.play(states, args.decisions, args.seed).figures()
        say(f"{name}: {figures[name]}")
    met, beaten, lost = np.sum([player.fight(state) for state in fights], axis=0).tolist()
    duels = [player.fight(boss, 3 * number) for number in range(BOSS_FIGHTS)]
    figures["fights"] = {
        "met": met,
        "beaten": beaten,
        "quarter_hearts_each": round(lost / beaten, 2),
    }
    figures["boss"] = {
        "duels": len(duels),
        "won": sum(beaten for _, beaten, _ in duels),
        "quarter_hearts_each": round(sum(lost for *_, lost in duels) / len(duels), 1),
    }
    return finish({"seed": args.seed, **figures}, met=True)


if __name__ == "__main__":
    sys.exit(main())
