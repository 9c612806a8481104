"""Does a policy that has only imitated do as shown where play itself arrives? By how it imitated.

    python benchmarks/imitation_from_arrivals.py RUN                   after make train-cartridge
    python benchmarks/imitation_from_arrivals.py RUN --shares 0,0.2 --seeds 2

RUN is the directory of a quest run (`var/trainer/runs/cartridge-1`). Its newest checkpoint holds
moments in which its play came to the beginning of a segment by itself, with other hearts, money and
things taken along than the demonstration had there. A new policy imitates the run's demonstrations,
each share of what it is shown coming from other moments (TRAINER_CURRICULUM_STRAYED), and tries the
segments of the first demonstration from these moments and from the demonstration's own; no PPO.

    arrived   share of the tries that reach the goal in time, from where play arrived
    own       the same from the demonstration's own states

Prints a line for each policy; ends with one line of JSON. Seeds are those of the networks' weights,
of the order of the rows, and of the decisions that are drawn.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import torch
from ray.rllib.core.columns import Columns

from rlaif.game.captures.capture import PackedKeyframe, unpack_keyframe
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.policy_input.layout import SIZE
from rlaif.game.policy_input.writer import write_policy_input
from rlaif.trainer.curriculum.attempt import limit
from rlaif.trainer.curriculum.demonstrations import Demonstration, Segment, segments
from rlaif.trainer.learner.algorithm.coursing import Imitated, demonstrations_of
from rlaif.trainer.learner.algorithm.decision_module import POLICY_INPUTS
from rlaif.trainer.learner.algorithm.ppo import network_of
from rlaif.trainer.learner.options.demonstrated import WarmStart, warm_start
from rlaif.trainer.play.decision_step import DecisionStep
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import Start
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.run_folder import npz_tree
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.settings import TrainerSettings


class Case(NamedTuple):
    """A try: of which segment, from which state."""

    segment: Segment
    keyframe: PackedKeyframe


class Given:
    """Where the next episode starts, as the one who plays says."""

    def __init__(self) -> None:
        self.start: Start

    def choose(self, rng: np.random.Generator) -> Start:
        return self.start


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--shares", default="0,0.1,0.2,0.4", help="with commas (0,0.1,0.2,0.4)")
    parser.add_argument("--seeds", type=int, default=4, help="policies of each share (4)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    stored = json.loads((options.run / "run.json").read_text())["settings"]
    settings = TrainerSettings.model_validate(json.loads(stored))
    path = {"path": options.run.resolve() / "demonstrations"}
    found = demonstrations_of(settings.curriculum.model_copy(update=path), settings.game)
    checkpoints = sorted((options.run / "checkpoints").glob("iteration_*"))
    if not checkpoints:
        parser.error(f"{options.run} has no checkpoint yet: let it train on")
    arrived, own = cases_of(found, checkpoints[-1])
    rows = {
        name: torch.as_tensor(column)
        for name, column in Imitated.of(found, gamma=settings.ppo.gamma).rows.items()
    }
    figures: dict[str, Any] = {}
    for share in map(float, options.shares.split(",")):
        tried = []
        for seed in range(options.seeds):
            module = imitating(settings, rows, share, seed)
            tried.append([play(settings, found[0], each, module, seed) for each in (arrived, own)])
            shown = ", ".join(f"{value:.3f}" for value in tried[-1])
            print(f"share {share:g}, seed {seed}: arrived, own {shown}", flush=True)
        figures[f"{share:g}"] = {
            "arrived": round(fmean(each[0] for each in tried), 3),
            "own": round(fmean(each[1] for each in tried), 3),
            "arrived_by_seed": [round(each[0], 3) for each in tried],
        }
    print(
        json.dumps(
            {
                "benchmark": "imitation_from_arrivals",
                "run": options.run.name,
                "checkpoint": checkpoints[-1].name,
                "tries": {"arrived": len(arrived), "own": len(own)},
                "rows": len(rows["actions"]),
                "shares": figures,
                "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
            }
        )
    )
    return 0


def cases_of(found: Sequence[Demonstration], checkpoint: Path) -> tuple[list[Case], list[Case]]:
    """Tries from where play arrived, and from the first demonstration's own states."""
    whole = [each for each in found if each.part_of is None]
    first = whole[0]
    parts = segments(first, first.needed(whole))
    own = [Case(each, first.states[each.starts[0]].keyframe) for each in parts]
    arrived = []
    for path in sorted(checkpoint.glob("runner-*.npz")):
        legs = npz_tree.read(path)["course"]["route"]
        for part in parts:
            kept = legs[f"{first.name}/{part.number}"]["arrivals"]
            arrived += [Case(part, PackedKeyframe(*each)) for each in kept]
    return arrived, own


def imitating(
    settings: TrainerSettings, rows: dict[str, torch.Tensor], share: float, seed: int
) -> Any:
    """A new policy after its warm start."""
    torch.manual_seed(seed)
    spec = network_of(settings)
    spec.observation_space, spec.action_space = OBSERVATION_SPACE, actions_of(settings.game)
    module = spec.build()
    warm_start(module, rows, WarmStart(settings.curriculum.warm_start, strayed=share), seed=seed)
    return module


def play(
    settings: TrainerSettings,
    demonstration: Demonstration,
    cases: Sequence[Case],
    module: Any,
    seed: int,
) -> float:
    """Share of the tries that reach the goal of their segment in time."""
    given, draws = Given(), np.random.default_rng([seed, 1])
    game = GameEnv(settings.game, np.random.default_rng([seed, 2]), starts=given)
    seen, inputs = np.zeros((1, 128), np.float32), np.zeros((1, SIZE), np.float32)
    succeeded = []
    for segment, keyframe in cases:
        state = unpack_keyframe(keyframe.data, keyframe.sha256)
        given.start = Start(state, "a moment", keyframe, from_play=True)
        game.reset(seen[0])
        step = DecisionStep(game, gamma=settings.ppo.gamma)
        frames = demonstration.frames_between(segment.first, segment.last)
        game.cut_after(limit(frames, settings.curriculum.patience))
        missing, over = set(segment.goal) - marks_of(read_blocks(game.emulator)), False
        while missing and not over:
            ram = read_blocks(game.emulator)
            in_vain = step.in_vain.look(ram)
            write_policy_input(
                ram, step.last, inputs[0], arm=settings.game.actions, in_vain=in_vain
            )
            logits = logits_of(module, seen, inputs)
            step.begin(int((logits + draws.gumbel(size=logits.shape)).argmax()))
            while (button := step.button()) is not None:
                outcome = game.step(button, seen[0])
                step.note(outcome)
                missing -= marks_of(read_blocks(game.emulator))
                over = outcome.terminated or outcome.truncated
        succeeded.append(not missing)
    game.close()
    return fmean(succeeded)


def logits_of(module: Any, seen: Any, inputs: Any) -> Any:
    """`[A] float32` of one moment."""
    rows = {Columns.OBS: torch.from_numpy(seen), POLICY_INPUTS: torch.from_numpy(inputs)}
    with torch.inference_mode():
        return module.forward_inference(rows)[Columns.ACTION_DIST_INPUTS].numpy()[0]


if __name__ == "__main__":
    sys.exit(main())
