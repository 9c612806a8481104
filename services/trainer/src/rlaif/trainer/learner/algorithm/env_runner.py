"""Sampling: N emulators stepped together, one batched forward pass per vector step.

RLlib's own runner builds episode objects step by step; this one fills preallocated arrays.
"""

import gc
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import ray
import torch
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME, WEIGHTS_SEQ_NO

from rlaif.game.captures.capture import KeyframeError
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import words_of
from rlaif.game.machine.emulator import SaveStateError
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.skills.script import OptionLimits
from rlaif.trainer.curriculum.course import Course
from rlaif.trainer.learner.algorithm.demonstrations import course_of
from rlaif.trainer.learner.algorithm.inference import PolicyInference, log_probabilities
from rlaif.trainer.learner.algorithm.run_files import RunnerFiles
from rlaif.trainer.learner.algorithm.sampler import (
    RunnerRewardModel,
    StopAskedError,
    disagreement_by,
    never,
    share,
)
from rlaif.trainer.planning.planner import open_planner
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.assist.guidance import Guidance, guidance_stream
from rlaif.trainer.play.assist.takeover import AssistanceParts
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.exploration.explorer import ExploreConfig, Explorer
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.planner_port import Planner
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.settings.learning import CurriculumSettings, RewardSettings
from rlaif.trainer.settings.planner import GuidanceSettings, PlannerSettings, TakeoverSettings


class EmulatorEnvRunner(EnvRunner):  # type: ignore[misc]  # ray has no types
    """An RLlib environment runner that returns a `Fragment`.

    `config.env_config` is the one of `build_config`. With `["resumes"]` no episode begins before
    `load_state_dict` or the first fragment.

    Attributes:
        files: Access to the files of the run and of its settings.
        stop_asked: Whether a stop was requested; the driver's own runner asks before each decision.
    """

    stop_asked: Callable[[], bool] = staticmethod(never)

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        """Build the module, and the emulators unless this is the runner of a driver with others."""
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
        given, index, seed = self.config.env_config, self.worker_index or 0, self.config.seed or 0
        self.files.close()
        self.files = RunnerFiles(given.get("explore"))
        env: EnvConfig = self.files.environment(replace(given["env"], life=self._life))
        explore = self.files.exploration
        curriculum = self.files.curriculum(given.get("curriculum"))
        follows = explore is not None or curriculum is not None
        self._explorer = self._course = None
        self._used = ""
        self._vector = EmulatorVector(
            env,
            count=self.config.num_envs_per_env_runner,
            runner=index,
            seed=seed,
            follow=partial(self._follow, explore, curriculum, env) if follows else None,
            assist=partial(assistance_of, given.get("assist"), env, runner=index, seed=seed),
            begin=not given.get("resumes", False),
        )
        self.files.show_screens(env, index)
        if index:
            # All objects so far live as long as this process. To traverse half a million of them
            # takes the garbage collector a quarter of a second.
            gc.collect()
            gc.freeze()

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
        and its shaping rewards are published.

        Raises:
            StopAskedError: A stop was requested; the fragment is lost.
        """
        vector, began = self._games, time.perf_counter()
        self._use(model, vector)
        own = self.worker_index or 0
        quota = share(capture_quota, parts=runners, part=own, turn=context.policy_iteration)
        vector.begin_fragment(steps, capture_quota=quota, context=context)
        count, frame_stack = vector.count, vector.frame_stack
        logits = np.empty((steps, count, self._choices), dtype=np.float32)
        actions = np.empty((steps, count), dtype=np.int64)
        # The largest of logits plus Gumbel noise is a draw from their softmax.
        noise = self._policy_rng.gumbel(size=logits.shape)
        for t in range(steps):
            if self.stop_asked():
                if self._explorer is not None:
                    self._explorer.sync()
                raise StopAskedError
            pictures = None if frame_stack is None else frame_stack.stacks
            logits[t] = self._policy.logits(vector.observations, pictures, vector.policy_inputs)
            (logits[t] + noise[t]).argmax(axis=1, out=actions[t])
            vector.step(t, actions[t])
        self.num_env_steps_sampled_lifetime += steps * count
        if self._explorer is not None:
            self._explorer.end_fragment()
        fragment = vector.end_fragment(logits, log_probabilities(logits, vector.played))
        return replace(
            fragment,
            policy_version=self._weights_seq_no,
            not_written=None if self._explorer is None else self._explorer.trouble,
            seconds=time.perf_counter() - began,
            course=None if self._course is None else self._course.figures(),
        )

    @property
    def _games(self) -> EmulatorVector:
        if self._vector is None:
            raise RuntimeError("this environment runner has no environments: it is the driver's")
        return self._vector

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

    def get_state(self, components: Any = None, **kwargs: Any) -> dict[str, Any]:
        return {
            NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime,
            COMPONENT_RL_MODULE: self.module.get_state(**kwargs),
            WEIGHTS_SEQ_NO: self._weights_seq_no,
        }

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

    def assert_healthy(self) -> None:
        assert self.module is not None

    def state_dict(self) -> dict[str, Any]:
        """State of all games between two fragments, as plain values; 40 ms per game."""
        explorer = None if self._explorer is None else self._explorer.state_dict()
        return {
            "runner": self.worker_index or 0,
            "policy_rng": self._policy_rng.bit_generator.state,
            "vector": self._games.state_dict(),
            "explorer": explorer,
            "course": None if self._course is None else self._course.state_dict(),
            "played_from": [] if explorer is None else explorer["played_from"],
        }

    def load_state_dict(self, saved: dict[str, Any], played_from: Collection[str]) -> str | None:
        """Resume in the middle of the episodes, or begin new ones and return the reason.

        `played_from` are the digests of the archived states from which any runner plays.
        """
        if (saved.get("course") is None) != (self._course is None):
            return "it was saved with a curriculum and resumes without, or the other way round"
        try:
            why = self._games.load_state_dict(saved["vector"])
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


def _life() -> int:
    """0 in a runner's first process, a unique number in one that replaces a lost one."""
    if not ray.is_initialized():
        return 0
    context = ray.get_runtime_context()
    if context.get_actor_id() is None or not context.was_current_actor_reconstructed:
        return 0
    # Six digits keep ids short; the last bit is set, since 0 is taken.
    return int(context.get_worker_id()[:6], 16) | 1


@dataclass(frozen=True)
class AssistConfig:
    """Settings of the assistance, which are sent to the runner processes."""

    planner: PlannerSettings
    takeover: TakeoverSettings
    guidance: GuidanceSettings


def assistance_of(
    config: AssistConfig | None, env: EnvConfig, games: Sequence[GameEnv], *, runner: int, seed: int
) -> Assistance | None:
    """The assistance of a runner; the planner connects with its first question."""
    planner = None if config is None else open_planner(config.planner)
    if config is None or planner is None:
        return None
    return assisted_by(planner, config, env, games, runner=runner, seed=seed)


def assisted_by(
    planner: Planner,
    config: AssistConfig,
    env: EnvConfig,
    games: Sequence[GameEnv],
    *,
    runner: int,
    seed: int,
) -> Assistance:
    """The assistance of a runner by this planner."""
    cartridge, guidance = games[0].cartridge, config.guidance
    words = words_of(cartridge.game, cartridge.data)
    limits = OptionLimits().scaled(env.game.frame_skip)
    drawn_from = [seed, runner, env.attempt, *([env.life] if env.life else [])]

    def guide(count: int, planner: Planner) -> Guidance:
        rng = guidance_stream(drawn_from)
        return Guidance(guidance, count=count, rng=rng, planner=planner, runner=runner)

    return Assistance(
        AssistanceParts(
            planner=planner,
            takeover=config.takeover,
            brief=lambda ram, graph, failed: brief(ram, words, graph=graph, failed=failed),
            executor_of=lambda macros, graph: PlanExecutor(macros, graph=graph, limits=limits),
            guide=guide if guidance.asks else None,
        ),
        games,
        runner=runner,
    )
