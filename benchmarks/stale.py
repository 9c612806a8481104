"""Marks the results in benchmarks/README.md that were measured with other code than today's.

    python benchmarks/stale.py                    marks rows; docs/generate.py does it, too
    python benchmarks/stale.py --measured NAME    after a measurement: results/NAME is of this code

`measured.json` has a digest of the measured code for each result. The digest leaves docstrings,
comments and formatting out.
"""

import argparse
import ast
import json
import re
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE, DIGESTS = HERE / "README.md", HERE / "measured.json"
GAME = "libs/game/src/rlaif/game"
TRAINER = "services/trainer/src/rlaif/trainer"
REWARD = ("services/reward-model/src/rlaif/reward_model", "libs/common/src/rlaif/reward_net")
JUDGE = ("services/judge/src/rlaif/judge", "libs/common/src/rlaif/llm")
PLAY = (f"{GAME}/machine", f"{GAME}/encoder", f"{GAME}/decisions", f"{TRAINER}/play")
LEARN = (*PLAY, f"{TRAINER}/learner", f"{TRAINER}/rewards", f"{TRAINER}/settings")
CODE = {
    "ladder.txt": LEARN,
    "bench_rllib.txt": LEARN,
    "bench_overhead.txt": LEARN,
    "memory_flat.txt": LEARN,
    "determinism.txt": LEARN,
    "move_to.txt": (GAME,),
    "decision_pace.txt": (GAME,),
    "replay_check.txt": (f"{GAME}/machine", f"{GAME}/replay_check"),
    "search": (GAME, f"{TRAINER}/search"),
    "train_cartridge": (*LEARN, f"{TRAINER}/search", f"{TRAINER}/curriculum"),
    "train_cartridge_order": (*LEARN, f"{TRAINER}/search", f"{TRAINER}/curriculum"),
    "train_cartridge_luck": (*LEARN, f"{TRAINER}/search", f"{TRAINER}/curriculum"),
    "train_cartridge_arms": (*LEARN, f"{TRAINER}/search", f"{TRAINER}/curriculum"),
    "demo_minutes": (*LEARN, *REWARD, *JUDGE),
    "bench_rm.txt": (*REWARD, "deploy/mock-llm/src"),
    "bench_labels.txt": REWARD,
    "bench_loop.txt": (*REWARD, *JUDGE, "services/exporter/src", TRAINER),
    "judge_outages.txt": JUDGE,
    "planner_moments.txt": (GAME, f"{TRAINER}/planning", f"{TRAINER}/play", "deploy/mock-llm/src"),
    "bench_planner.txt": (*LEARN, f"{TRAINER}/planning", "libs/common/src/rlaif/llm"),
    "bench_hud.txt": ("services/hud/src",),
}
"""Raw result → the code that it measures."""

ROW = re.compile(
    r"^(?P<row>\|.*\]\(results/(?P<raw>[^)]+)\) \| `\w{7}`)(?P<stale>, stale)? \|$", re.MULTILINE
)


@cache
def digest(raw: str) -> str:
    """Of the syntax trees of the measured code, without docstrings."""
    found = sha256()
    for folder in CODE[raw]:
        for path in sorted((HERE.parent / folder).rglob("*.py")):
            found.update(path.relative_to(HERE.parent).as_posix().encode())
            found.update(_digest(path))
    return found.hexdigest()


@cache
def _digest(path: Path) -> bytes:
    return sha256(_tree(path.read_text(encoding="utf-8")).encode()).digest()


def _tree(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [each for each in body if not _is_text(each)]
            node.body = kept  # type: ignore[attr-defined]  # every node with a list of statements
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def marked(page: str) -> str:
    """The page with each row marked that another code was measured for."""
    measured = json.loads(DIGESTS.read_text(encoding="utf-8"))

    def mark(row: re.Match[str]) -> str:
        known = measured.get(row["raw"])
        fresh = known is not None and known == digest(row["raw"])
        return f"{row['row']}{'' if fresh else ', stale'} |"

    return ROW.sub(mark, page)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measured", nargs="*", default=[], choices=sorted(CODE), metavar="NAME")
    names = parser.parse_args().measured
    measured = json.loads(DIGESTS.read_text(encoding="utf-8")) | {n: digest(n) for n in names}
    DIGESTS.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(marked(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
