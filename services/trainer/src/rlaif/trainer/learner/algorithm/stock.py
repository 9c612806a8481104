"""The same run with RLlib's own parts: runner, connectors, episodes, learner. To compare with."""

from typing import Any, ClassVar

from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings import TrainerSettings


def build_stock_config(settings: TrainerSettings, env: EnvConfig) -> PPOConfig:
    """`build_config` with nothing of ours but the Gymnasium environment and the numbers."""
    config = build_config(settings, env)
    config.algo_class = StockPPO
    config.env_runners(
        env_runner_cls=SingleAgentEnvRunner,
        merge_env_runner_states="training_only",
        broadcast_env_runner_states=True,
        batch_mode="truncate_episodes",
    )
    config.training(learner_class=PPOConfig().get_default_learner_class())
    return config


class StockPPO(ShapedPPO):
    """RLlib's own iteration. It has no fragments: no captures, no reward model, no curiosity."""

    keeps_games: ClassVar[bool] = False

    @property
    def overlaps(self) -> bool:
        """Sampling and learning take turns."""
        return False

    def get_auto_filled_metrics(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """RLlib's own."""
        filled: dict[str, Any] = PPO.get_auto_filled_metrics(self, *args, **kwargs)
        return filled

    def training_step(self) -> None:
        """RLlib's own."""
        PPO.training_step(self)
        sampled: Any = self.metrics.peek(
            (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=self.env_steps
        )
        self.env_steps = int(sampled)
