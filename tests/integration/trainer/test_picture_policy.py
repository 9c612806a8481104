"""POLICY=cnn: the same PPO on what the emulators draw; POLICY=mlp draws nothing."""

import numpy as np
import pytest
from ray.rllib.core import DEFAULT_MODULE_ID

from rlaif.contracts.game.observation import slot_index
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.networks.button_networks import PicturePolicy
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, on every start
    pytest.mark.timeout(900),
]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each step was drawn."""
    seen: list[bool] = []
    step = Emulator.step

    def noted(self: Emulator, action: int, frame_skip: int, *, render: bool = False) -> None:
        seen.append(render)
        step(self, action, frame_skip, render=render)

    monkeypatch.setattr(Emulator, "step", noted)
    return seen


def algorithm_of(policy: str) -> ShapedPPO:
    settings = TrainerSettings.model_validate(
        {
            "actions": "seed",
            "policy": policy,
            "ray_workers": 0,
            "envs_per_worker": 2,
            "batch_size": 80,
            "minibatch_size": 40,
            "epochs": 2,
            "hidden": 32,
        }
    )
    env = EnvConfig(
        run_id="t",
        game=GameSettings(actions="seed", noop_start=0, walk_start=0, episode_length=30),
        pictures=policy == "cnn",
    )
    return ShapedPPO(build_config(settings, env))


def weights(algorithm: ShapedPPO) -> dict[str, np.ndarray]:
    state = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    return {name: np.array(value) for name, value in state.items()}


def test_it_learns_from_what_was_drawn_and_its_runner_saw_the_same(drawn: list[bool]):
    algorithm = algorithm_of("cnn")
    try:
        before, first = weights(algorithm), PicturePolicy()
        first.load(before)
        drawn.clear()
        algorithm.train()
        assert drawn.count(True) == 80, "every step, and none of the warm-up"
        (fragment,) = algorithm.fragments
        assert fragment.pictures is not None
        trans = fragment.transitions
        black = fragment.pictures.frames.std(axis=(2, 3)) == 0
        in_the_menu = trans.observations[1:, :, slot_index("menu_open")] == 1
        assert not (black & ~in_the_menu).any(), "every one shows something"
        assert black.mean() < 0.2, "the game is black for a moment only, where the menu opens"
        stacks, finals = fragment.pictures.stacks(trans.ended, trans.final_index)
        assert len(finals) == 2, "an episode was cut in each game"
        logits = first.logits(
            trans.observations[:-1].reshape(-1, 128), stacks[:-1].reshape(-1, *stacks.shape[2:])
        ).reshape(fragment.action_dist_inputs.shape)
        assert np.allclose(logits, fragment.action_dist_inputs, atol=1e-5)
        assert not np.allclose(logits[0], logits[20], atol=1e-6), "it tells pictures apart"
        moved = {name: float(abs(weights(algorithm)[name] - before[name]).max()) for name in before}
        assert min(moved.values()) > 0, moved
    finally:
        algorithm.stop()


def test_without_it_nothing_is_drawn(drawn: list[bool]):
    algorithm = algorithm_of("mlp")
    try:
        algorithm.train()
        assert len(drawn) >= 80
        assert not any(drawn)
        assert algorithm.fragments[0].pictures is None
    finally:
        algorithm.stop()
