"""Play the solutions of generated worlds on the emulator, from power-on to the essence.

    python benchmarks/verify_worlds.py --seeds 1-200 --rooms 20 30 60 120

Each world is a row of the file; existing rows are skipped, so interrupted runs can be resumed.
Exit code 0 if all worlds of the file are generated within two CPU seconds and played to the end.
"""

import csv
import hashlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from outcome import HERE, commit, finish, machine, parser_of, say

sys.path.insert(0, str(HERE.parent / "libs/game/cartridge"))

from route import play
from walker import Walker

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.worlds.graph import SIZES
from rlaif.game.worlds.making import make_world

MAX_SECONDS = 2.0
FIELDS = (
    "seed", "rooms", "reached", "frames", "legs", "deaths", "rejected_draws", "generated_cpu_s",
    "cpu_s", "rom_sha256", "commit", "processor", "reason",
)  # fmt: skip


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--seeds", default="1-200", help="FIRST-LAST or one seed (1-200)")
    add("--rooms", type=int, nargs="+", default=SIZES, help="sizes (20 30 60 120)")
    add("--out", type=Path, default=HERE / "results" / "worlds.csv", help="file of the rows")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    if not args.out.exists():
        args.out.write_text(",".join(FIELDS) + "\n", encoding="ascii")
    done = {(int(row["seed"]), int(row["rooms"])) for row in rows_of(args.out)}
    for seed in range(int(first), int(last or first) + 1):
        for rooms in args.rooms:
            if (seed, rooms) not in done:
                row = verify(seed, rooms)
                with args.out.open("a", newline="", encoding="ascii") as file:
                    csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(row)
                say(", ".join(f"{name} {value}" for name, value in row.items()))
    rows = rows_of(args.out)
    seconds = max(float(row["generated_cpu_s"]) for row in rows)
    failed = [f"{row['seed']} of {row['rooms']}" for row in rows if row["reached"] != "True"]
    figures = {"worlds": len(rows), "failed": failed, "generated_cpu_s_max": seconds}
    return finish(figures, met=not failed and seconds <= MAX_SECONDS)


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="ascii") as lines:
        return list(csv.DictReader(lines))


def verify(seed: int, rooms: int) -> dict[str, Any]:
    """Generate and play one world."""
    began = time.process_time()
    made = make_world(seed, rooms)
    generated = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        rom = Path(folder) / "world.gbc"
        rom.write_bytes(made.rom)
        walker = Walker(load_cartridge(rom))
    reason = play(walker, made.tables, made.legs)
    row = {
        "seed": seed, "rooms": rooms, "reached": not reason, "frames": walker.frames,
        "legs": len(made.legs), "deaths": walker.u8("wDeathCounter"),
        "rejected_draws": made.rejected, "generated_cpu_s": round(generated, 2),
        "cpu_s": round(time.process_time() - began, 1),
        "rom_sha256": hashlib.sha256(made.rom).hexdigest(), "commit": commit(),
        "processor": machine()["processor"], "reason": reason,
    }  # fmt: skip
    walker.emulator.close()
    return row


if __name__ == "__main__":
    sys.exit(main())
