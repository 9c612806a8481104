"""MOVE_TO compared with the shortest paths to all reachable tiles; others must be rejected.

    python benchmarks/move_to.py --rooms 60

Each room of the cartridge, in each state in which the walkthrough enters it, from that place and
without enemies. The reference holds each direction for an emulator step on the emulator, from every
place that is reached (`rlaif.testing.data.motion.real_steps`). Exit code 0 if MOVE_TO reached every
tile within 1.5 times the minimum of emulator steps, or rejected it if there is no path.
"""

import random
import sys
import time
from collections import Counter

from outcome import finish, parser_of, say
from scenes import WALKTHROUGH

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.testing.data.motion.reach import Truth, all_tiles
from rlaif.testing.data.motion.real_steps import Entry, entries, truth
from rlaif.testing.data.motion.trips import move_to

BAR = 1.5


class Tally:
    """Results of all rooms."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.ratios: list[float] = []

    def walk(self, emulator: Emulator, entry: Entry, found: Truth) -> None:
        """Play MOVE_TO to each tile of a room."""
        for tile in all_tiles():
            trip, least = move_to(emulator, entry, tile), found.least(tile)
            verdict = trip.verdict(found, tile, entry)
            if verdict == "reached" and least is not None and trip.steps > BAR * least:
                verdict = "slow"
            self.verdicts[verdict] += 1
            if least and verdict in ("reached", "slow"):
                self.ratios.append(trip.steps / least)
            if verdict not in ("reached", "refused"):
                figures = f"{trip.steps} steps, least {least}, {trip.choice.reason!r}"
                say(f"  {entry.name} tile {tile}: {verdict}; {figures}")

    def figures(self) -> dict[str, object]:
        """Return the figures for the line of JSON."""
        ratios = sorted(self.ratios)
        return {
            "tiles": sum(self.verdicts.values()),
            "verdicts": dict(self.verdicts),
            "ratio_mean": round(sum(ratios) / len(ratios), 4),
            "ratio_p99": round(ratios[int(0.99 * (len(ratios) - 1))], 4),
            "ratio_max": round(ratios[-1], 4),
        }


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--rooms", type=int, default=1000, help="at most so many, drawn by seed")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    args = parser.parse_args()
    found = entries(WALKTHROUGH)
    if args.rooms < len(found):
        found = random.Random(args.seed).sample(found, args.rooms)
    tally, emulator, start = Tally(), new_emulator(load_cartridge()), time.process_time()
    for entry in found:
        real = truth(emulator, entry)
        before = tally.verdicts.copy()
        tally.walk(emulator, entry, real)
        say(
            f"{entry.name} from {real.start}: {len(real.steps)} places, farthest "
            f"{max(real.steps.values())} steps; {dict(tally.verdicts - before)}"
        )
    figures = {
        "rooms": len({entry.room for entry in found}),
        "entries": len(found),
        **tally.figures(),
        "bar": BAR,
        "cpu_seconds": round(time.process_time() - start),
    }
    met = set(tally.verdicts) <= {"reached", "refused"}
    return finish(figures | {"met": met}, met=met)


if __name__ == "__main__":
    sys.exit(main())
