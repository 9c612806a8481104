"""Sampling: N emulators stepped together, one batched forward pass a vector step.

RLlib's own runner builds an episode object for every step; this one fills preallocated arrays
and returns them whole.
"""

import gc
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import ray
import torch
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME, WEIGHTS_SEQ_NO

from rlaif.game.captures.capture import KeyframeError
from rlaif.game.machine.emulator import SaveStateError
from rlaif.trainer.curriculum.course import Course
from rlaif.trainer.learner.algorithm.assisting import assistance_of
from rlaif.trainer.learner.algorithm.coursing import course_of
from rlaif.trainer.learner.algorithm.inference import PolicyInference, log_probabilities
from rlaif.trainer.learner.algorithm.keeping import RunnerFiles
from rlaif.trainer.learner.algorithm.sampler import (
    RunnerRewardModel,
    StopAskedError,
    disagreement_by,
    never,
    share,
)
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.exploration.explorer import ExploreConfig, Explorer
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.settings.learning import CurriculumSettings, RewardSettings


class EmulatorEnvRunner(EnvRunner, Checkpointable):  # type: ignore[misc]  # ray has no types
    """An RLlib environment runner that returns a `Fragment`.

    `config.env_config["env"]` is the `EnvConfig` of every environment, `["explore"]` the
    `ExploreConfig` of the run or None, `["assist"]` its `AssistConfig` or None, `["curriculum"]`
    its `CurriculumSettings` or None. With `["resumes"]` no episode begins before `load_state_dict`
    or the first fragment.

    Attributes:
        files: Those of the run and of its settings, on whichever machine this runs.
        stop_asked: Whether the run is to stop; the driver's own runner asks before each decision.
    """

    stop_asked: Callable[[], bool] = staticmethod(never)

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        """Build the module, and the emulators unless this is a driver that does not sample."""
        super().__init__(config=config, **kwargs)
        torch.set_num_threads(1)
        self._weights_seq_no = 0
        self._vector: EmulatorVector | None = None
        self._explorer: Explorer | None = None
        self._course: Course | None = None
        self.files = RunnerFiles(None)
        self.module: Any = None
        self._life = _life()
        self._policy_rng = np.random.default_rng(
            [self.config.seed or 0, self.worker_index or 0, 0x501, *filter(None, [self._life])]
        )
        samples_here = (self.worker_index or 0) > 0 or self.num_workers == 0
        if samples_here:
            self.make_env()
        self.make_module()

    def make_env(self) -> None:
        if self._vector is not None:
            self._vector.close()
            self._vector = None
            gc.unfreeze()
        self.files.close()
        self.files = RunnerFiles(self.config.env_config.get("explore"))
        own: EnvConfig = replace(self.config.env_config["env"], life=self._life)
        env_config = self.files.environment(own)
        explore = self.files.exploration
        curriculum = self.files.curriculum(self.config.env_config.get("curriculum"))
        follows = explore is not None or curriculum is not None
        self._explorer = self._course = None
        self._used = ""
        self._vector = EmulatorVector(
            env_config,
            count=self.config.num_envs_per_env_runner,
            runner=self.worker_index or 0,
            seed=self.config.seed or 0,
            follow=partial(self._follow, explore, curriculum, env_config) if follows else None,
            assist=partial(
                assistance_of,
                self.config.env_config.get("assist"),
                env_config,
                runner=self.worker_index or 0,
                seed=self.config.seed or 0,
            ),
            begin=not self.config.env_config.get("resumes", False),
        )
        self.files.show_screens(env_config, self.worker_index or 0)
        if self.worker_index:  # a process of its own
            _keep_for_good()

    def _follow(
        self,
        explore: ExploreConfig | None,
        curriculum: CurriculumSettings | None,
        env: EnvConfig,
        game: GameEnv,
        n: int,
    ) -> EpisodeFollower:
        if explore is not None and self._explorer is None:
            self._explorer = Explorer.of_game(
                explore,
                runner=self.worker_index or 0,
                cartridge=game.cartridge,
                emulator=game.emulator,
                frame_skip=env.game.frame_skip,
                archive_server=self.files.archive_server,
            )
        explorer = None if self._explorer is None else self._explorer.environment(n, game)
        if curriculum is None:
            assert explorer is not None
            return explorer
        if self._course is None:
            self._course = course_of(curriculum, env.game, game)
        return self._course.environment(game, explorer)

    def make_module(self) -> None:
        self._choices = int(actions_of(self.config.env_config["env"].game).n)
        spec = self.config.get_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()
        self._policy = PolicyInference(self.module, self.config.num_envs_per_env_runner)

    def get_spaces(self) -> dict[str, tuple[gym.Space[Any], gym.Space[Any]]]:
        env: EnvConfig = self.config.env_config["env"]
        spaces = (OBSERVATION_SPACE, actions_of(env.game))
        return {
            INPUT_ENV_SPACES: spaces,
            INPUT_ENV_SINGLE_SPACES: spaces,
            DEFAULT_MODULE_ID: spaces,
        }

    def sample(
        self,
        *,
        steps: int,
        capture_quota: int,
        context: CaptureContext,
        runners: int = 1,
        model: RunnerRewardModel | None = None,
    ) -> Fragment:
        """Play `steps` decisions in every environment.

        `capture_quota` is shared by all `runners`; the disagreement of `model` decides on captures,
        and its shaping rewards are published. When the run is to stop, the fragment is lost
        (`StopAskedError`).
        """
        if self._vector is None:
            raise RuntimeError("this environment runner has no environments: it is the driver's")
        began = time.perf_counter()
        self._use(model, self._vector)
        own = self.worker_index or 0
        quota = share(capture_quota, parts=runners, part=own, turn=context.policy_iteration)
        self._vector.begin_fragment(steps, capture_quota=quota, context=context)
        count = self._vector.count
        logits = np.empty((steps, count, self._choices), dtype=np.float32)
        actions = np.empty((steps, count), dtype=np.int64)
        frame_stack = self._vector.frame_stack
        # The largest of logits plus Gumbel noise is a draw from their softmax.
        noise = self._policy_rng.gumbel(size=logits.shape)
        for t in range(steps):
            if self.stop_asked():
                if self._explorer is not None:
                    self._explorer.sync()
                raise StopAskedError
            pictures = None if frame_stack is None else frame_stack.stacks
            logits[t] = self._policy.logits(
                self._vector.observations, pictures, self._vector.policy_inputs
            )
            (logits[t] + noise[t]).argmax(axis=1, out=actions[t])
            self._vector.step(t, actions[t])
        self.num_env_steps_sampled_lifetime += steps * count
        if self._explorer is not None:
            self._explorer.end_fragment()
        fragment = self._vector.end_fragment(logits, log_probabilities(logits, self._vector.played))
        not_written = None if self._explorer is None else self._explorer.trouble
        return replace(
            fragment,
            policy_version=self._weights_seq_no,
            not_written=not_written,
            seconds=time.perf_counter() - began,
            course=None if self._course is None else self._course.figures(),
        )

    def _use(self, model: RunnerRewardModel | None, vector: EmulatorVector) -> None:
        sha256 = "" if model is None else model.sha256
        if sha256 == self._used:
            return
        self._used = sha256
        if model is None:
            vector.pay_by(None)
            return
        answers = model.answers()
        vector.ask_about(disagreement_by(answers))
        rewards: RewardSettings = self.config.env_config.get("rewards", RewardSettings())
        vector.pay_by(
            PayingModel(
                version=model.version,
                potential=answers,
                gamma=self.config.gamma,
                weight=rewards.shaping.weight,
            )
        )

    def get_metrics(self) -> dict[str, Any]:
        return {}

    def get_state(
        self,
        components: str | Collection[str] | None = None,
        *,
        not_components: str | Collection[str] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        state: dict[str, Any] = {
            NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime
        }
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(**kwargs)
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        if COMPONENT_RL_MODULE in state:
            weights = state[COMPONENT_RL_MODULE]
            if isinstance(weights, ray.ObjectRef):
                weights = ray.get(weights)
            self.module.set_state(weights.get(DEFAULT_MODULE_ID, weights))
            self._policy.refresh()
            self._weights_seq_no = state.get(WEIGHTS_SEQ_NO, 0)
        if NUM_ENV_STEPS_SAMPLED_LIFETIME in state:
            self.num_env_steps_sampled_lifetime = state[NUM_ENV_STEPS_SAMPLED_LIFETIME]

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        return [(COMPONENT_RL_MODULE, self.module)]

    def assert_healthy(self) -> None:
        assert self.module is not None

    def state_dict(self) -> dict[str, Any]:
        """Where each game stands between two fragments, as plain values; 40 ms a game."""
        if self._vector is None:
            raise RuntimeError("this environment runner has no environments: it is the driver's")
        explorer = None if self._explorer is None else self._explorer.state_dict()
        return {
            "runner": self.worker_index or 0,
            "policy_rng": self._policy_rng.bit_generator.state,
            "vector": self._vector.state_dict(),
            "explorer": explorer,
            "course": None if self._course is None else self._course.state_dict(),
            "played_from": [] if explorer is None else explorer["played_from"],
        }

    def load_state_dict(self, saved: dict[str, Any], played_from: Collection[str]) -> str | None:
        """Resume in the middle of the episodes; gives why that cannot be, and then begins new ones.

        `played_from` names the archived states that some runner plays from.
        """
        if self._vector is None:
            return "it has no environments"
        if (saved.get("course") is None) != (self._course is None):
            return "it was saved with a curriculum and resumes without, or the other way round"
        try:
            why = self._vector.load_state_dict(saved["vector"])
        except (KeyframeError, SaveStateError) as error:
            self.make_env()
            return str(error)
        if why is not None:
            return why
        if self._explorer is not None and saved["explorer"] is not None:
            self._explorer.load_state_dict(saved["explorer"], played_from=played_from)
        if self._course is not None and saved.get("course") is not None:
            self._course.load_state_dict(saved["course"])
        self._policy_rng.bit_generator.state = saved["policy_rng"]
        return None

    def stop(self) -> None:
        if self._explorer is not None:
            self._explorer.sync()
        if self._vector is not None:
            self._vector.close()
        self.files.close()


def _keep_for_good() -> None:
    """What there is now lives as long as the process: the garbage collector need not look at it.

    It is half a million objects, and looking through them takes a quarter of a second of play.
    """
    gc.collect()
    gc.freeze()


def _life() -> int:
    """0 in a runner's first process; in one that replaces a lost one a number of its own."""
    if not ray.is_initialized():
        return 0
    context = ray.get_runtime_context()
    if context.get_actor_id() is None or not context.was_current_actor_reconstructed:
        return 0
    # Six digits keep ids short; its last bit is set: 0 is taken.
    return int(context.get_worker_id()[:6], 16) | 1
