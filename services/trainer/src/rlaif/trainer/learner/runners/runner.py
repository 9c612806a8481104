"""Samples with N emulators in lockstep and one batched forward pass per step.

It fills preallocated arrays, whereas RLlib's runner builds episode objects step by step.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from rlaif.game.captures.capture import KeyframeError
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import words_of
from rlaif.game.machine.emulator import SaveStateError
from rlaif.game.policy_input.writer import without_room_numbers
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.skills.script import OptionLimits
from rlaif.guides.guides import use_worlds
from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.course import Course, CourseFollower
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.learner.runners.files import RunnerFiles
from rlaif.trainer.learner.runners.inference import (
    Policy,
    Weights,
    log_probabilities,
    policy_for,
)
from rlaif.trainer.planning.planner import open_planner
from rlaif.trainer.play.assist.assistance import Assistance
from rlaif.trainer.play.assist.guidance import Guidance, guidance_stream
from rlaif.trainer.play.assist.takeover import AssistanceParts
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.exploring import Explorer
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.followers.places import PlaceCounts, PlaceFollower
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.planner_port import Planner
from rlaif.trainer.play.recording import Disagreement
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.play.zelda_env import actions_of
from rlaif.trainer.rewards.learned.reward_models import check_reward_model
from rlaif.trainer.rewards.learned.shaping import Float32
from rlaif.trainer.search.jobs import Job
from rlaif.trainer.search.marks import marks_of
from rlaif.trainer.settings.learning import CurriculumSettings, RewardSettings
from rlaif.trainer.settings.planner import GuidanceSettings, PlannerSettings, TakeoverSettings


class StopAskedError(Exception):
    """A stop was requested: pending fragments are neither awaited nor learned from."""


def never() -> bool:
    """Return False: a stop is never requested."""
    return False


@dataclass(frozen=True)
class RunnerRewardModel:
    """A reward model for the runners; `data` is the content of its file."""

    version: int
    sha256: str
    data: bytes

    def answers(self) -> PotentialFunction:
        return check_reward_model(self.data, version=self.version, sha256=self.sha256).answers


@dataclass(frozen=True)
class AssistConfig:
    """Settings of the assistance, which are sent to the runner processes."""

    planner: PlannerSettings
    takeover: TakeoverSettings
    guidance: GuidanceSettings


@dataclass(frozen=True)
class RunnerConfig:
    """Configuration of a runner; sent to its process as a pickle.

    Attributes:
        count: Number of environments.
        gamma: PPO's discount factor.
        files: Name of the run's `DriverFiles` actor for runners on other machines; else empty.
        runners: Number of runners of the run.
        exploring: Total number of environments, over all runners, that explore: they play the
            decisions of the search.
        curriculum: None without a curriculum.
        resumes: No episode begins before `load_state_dict` or the first fragment.
        by: Class of the runner.
    """

    env: EnvConfig
    count: int
    seed: int = 0
    gamma: float = 0.99
    files: str = ""
    runners: int = 1
    exploring: int = 0
    assist: AssistConfig | None = None
    rewards: RewardSettings = field(default_factory=RewardSettings)
    curriculum: CurriculumSettings | None = None
    resumes: bool = False
    by: "type[EmulatorRunner] | None" = None

    def build(self, number: int, life: int = 0) -> "EmulatorRunner":
        return (self.by or EmulatorRunner)(self, number, life)


class EmulatorRunner:
    """N environments and the policy that plays them.

    Attributes:
        number: 0 in the training process, else from 1.
        files: Access to the files of the run and of its settings.
        policy: The policy, once it has been given weights.
        stop_asked: Whether a stop was requested; called before each decision by a runner in the
            training process.
    """

    stop_asked: Callable[[], bool] = staticmethod(never)

    def __init__(self, config: RunnerConfig, number: int, life: int = 0) -> None:
        """Build the emulators.

        `life` is 0 in a runner's first process and a unique number in a replacement.
        """
        self.config, self.number, self._life = config, number, life
        self._vector: EmulatorVector | None = None
        self._exploring = share(config.exploring, parts=config.runners, part=number, turn=0)
        self._explorer: Explorer | None = None
        self._course: Course | None = None
        self._places = PlaceCounts()
        self.files = RunnerFiles("")
        self.policy: Policy = policy_for(config.env)
        self._policy_version = 0
        self._policy_rng = np.random.default_rng(
            [config.seed, number, 0x501, *filter(None, [life])]
        )
        self.make_env()

    def make_env(self) -> None:
        if self._vector is not None:
            self._vector.close()
            self._vector = None
            gc.unfreeze()
        config, number = self.config, self.number
        self.files.close()
        self.files = RunnerFiles(config.files)
        env: EnvConfig = self.files.environment(
            replace(config.env, life=self._life or config.env.life)
        )
        curriculum = self.files.curriculum(config.curriculum)
        self._course = None
        self._explorer = Explorer(self._exploring) if self._exploring else None
        self._used = ""
        self._vector = EmulatorVector(
            env,
            count=config.count,
            runner=number,
            seed=config.seed,
            follow=partial(self._follow, curriculum, env),
            assist=partial(assistance_of, config.assist, env, runner=number, seed=config.seed),
            begin=not (config.resumes or self._exploring),
            explorer=self._explorer,
        )
        self.files.show_screens(env, number)
        if number:
            # Existing objects live as long as this process. The garbage collector would need 0.25 s
            # to traverse half a million of them.
            gc.collect()
            gc.freeze()

    def _follow(
        self, curriculum: CurriculumSettings | None, env: EnvConfig, game: GameEnv, n: int
    ) -> EpisodeFollower:
        # Squares of different worlds must not be counted together.
        counts = PlaceCounts() if env.game.has_many_worlds else self._places
        places = PlaceFollower(counts, game)
        if curriculum is None:
            return places
        if self._course is None:
            demonstrations: Sequence[Demonstration] = ()
            if curriculum.path is not None:
                demonstrations = library.read(curriculum.path, library.identity_of(env.game))
            self._course = Course(demonstrations, curriculum, marks_of)
        return CourseFollower(self._course, game, places)

    def follow(self, demonstrations: Sequence[Demonstration]) -> None:
        """Replace the demonstrations of the curriculum."""
        if self._course is not None:
            self._course.follow(demonstrations)

    def set_weights(self, weights: Weights, version: int) -> None:
        """Use these weights from now on; `version` is the number of updates behind them."""
        self.policy.load(weights)
        self._policy_version = version

    def sample(
        self,
        *,
        steps: int,
        capture_quota: int,
        context: CaptureContext,
        runners: int = 1,
        model: RunnerRewardModel | None = None,
        job: Job | None = None,
        places: Mapping[int, int] | None = None,
    ) -> Fragment:
        """Play `steps` decisions in every environment.

        `job` is for the environments that explore; `places` are the visit counts of the run.
        `capture_quota` is shared by all `runners`. Captures are selected by the disagreement of
        `model`, whose shaping rewards are published.

        Raises:
            StopAskedError: A stop was requested; the fragment is lost.
        """
        vector, began = self._games, time.perf_counter()
        self._use(model, vector)
        if self._explorer is not None and job is not None:
            self._explorer.take_in(job)
        if places is not None:
            self._places.take_in(places)
        turn = context.policy_iteration
        quota = share(capture_quota, parts=runners, part=self.number, turn=turn)
        vector.begin_fragment(steps, capture_quota=quota, context=context)
        count, frame_stack = vector.count, vector.frame_stack
        own = count - self._exploring
        choices = int(actions_of(self.config.env.game).n)
        logits = np.zeros((steps, count, choices), dtype=np.float32)
        actions = np.zeros((steps, count), dtype=np.int64)
        # The argmax of logits plus Gumbel noise is a sample from their softmax.
        noise = self._policy_rng.gumbel(size=(steps, own, choices))
        for t in range(steps):
            if self.stop_asked():
                raise StopAskedError
            if own:
                pictures = None if frame_stack is None else frame_stack.stacks[:own]
                inputs, seen = vector.policy_inputs, vector.observations[:own]
                if self.config.env.game.has_many_worlds:
                    seen = without_room_numbers(seen)
                logits[t, :own] = self.policy.logits(
                    seen, pictures, None if inputs is None else inputs[:own]
                )
                (logits[t, :own] + noise[t]).argmax(axis=1, out=actions[t, :own])
            vector.step(t, actions[t])
        fragment = vector.end_fragment(logits, log_probabilities(logits, vector.played))
        return replace(
            fragment,
            policy_version=self._policy_version,
            seconds=time.perf_counter() - began,
            course=None if self._course is None else self._course.figures(),
            explored=None if self._explorer is None else self._explorer.report(),
            places=self._places.report(),
        )

    @property
    def _games(self) -> EmulatorVector:
        if self._vector is None:
            raise RuntimeError("this runner was stopped")
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
        shaping = self.config.rewards.shaping
        vector.pay_by(
            PayingModel(model.version, answers, self.config.gamma, shaping.weight, shaping.mode)
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all games between two fragments as plain values; 40 ms per game."""
        return {
            "runner": self.number,
            "policy_rng": self._policy_rng.bit_generator.state,
            "vector": self._games.state_dict(),
            "course": None if self._course is None else self._course.state_dict(),
            "places": sorted(self._places.episodes.items()),
        }

    def load_state_dict(self, saved: dict[str, Any]) -> str | None:
        """Resume the saved episodes, or begin new ones and return the reason."""
        if saved.get("course") is not None and self._course is None:
            return "the checkpoint has a curriculum, but the run has none"
        try:
            why = self._games.load_state_dict(saved["vector"])
        except (KeyframeError, SaveStateError) as error:
            self.make_env()
            return str(error)
        if why is not None:
            return why
        self._places.take_in(dict(saved.get("places", ())))
        if self._course is not None and saved.get("course") is not None:
            self._course.load_state_dict(saved["course"])
        self._policy_rng.bit_generator.state = saved["policy_rng"]
        return None

    def stop(self) -> None:
        if self._vector is not None:
            self._vector.close()
            self._vector = None
        self.files.close()


def assistance_of(
    config: AssistConfig | None, env: EnvConfig, games: Sequence[GameEnv], *, runner: int, seed: int
) -> Assistance | None:
    """Return the assistance of a runner, if any; the planner connects on its first request."""
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
    """Return the assistance of a runner by this planner."""
    cartridge, guidance = games[0].cartridge, config.guidance
    if env.game.rom_path is not None:
        use_worlds(env.game.rom_path.parent.parent)  # a world's guide is stored next to it
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


def disagreement_by(answers: PotentialFunction) -> Disagreement | None:
    """Return a function for the deviation over an ensemble; None for a single network."""

    def measure(observations: Float32) -> float:
        return float(answers.normalised(observations).std(axis=0).mean())

    ensemble = len(answers.normalised(np.zeros((1, answers.inputs), dtype=np.float32))) > 1
    return measure if ensemble else None


def share(segments: int, *, parts: int, part: int, turn: int) -> int:
    """Return a part's share of a grant; the shares of all `parts` add up to the grant.

    `turn` increases with each grant, so that the remainder goes to the parts in turn.
    """
    return (segments + (part + turn) % parts) // parts
