"""Settings of the trainer. The names without a prefix are the seeds' own."""

import math
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.ids import Id
from rlaif.service.settings import ServiceSettings
from rlaif.trainer.ppo_presets import PRESETS, PpoPreset, filled

Mode = Literal["continuous", "epoch", "pipeline", "evaluation"]
"""What a run does; see the setting."""

_PPO = PRESETS["default"]


class TrainerSettings(ServiceSettings):
    """Everything that can be set about a run and the service around it."""

    model_config = SettingsConfigDict(env_prefix="TRAINER_")

    port: int = Field(default=8081, ge=0, le=65535, description="TCP port of the REST API.")
    data_dir: Path = Field(
        default=Path("var/trainer"), description="Where runs, spools and checkpoints are kept."
    )
    autostart: bool = Field(
        default=True, description="Start, or resume, the newest run when the service starts."
    )

    rom_path: Path | None = Field(
        default=None,
        validation_alias="ROM_PATH",
        description="Your own Oracle of Seasons (US) ROM; unset plays the built-in cartridge.",
    )
    initial_state_path: Path | None = Field(
        default=None,
        description="Save state at which episodes start; unset starts at power-on.",
    )
    initial_state_paths: str = Field(
        default="",
        description="More of them, separated by commas; each episode draws one of all. PATH=WEIGHT "
        "is drawn so many times as often as a PATH alone.",
    )
    seed: int = Field(default=7, ge=0, description="Seed of environments, policy and selection.")
    run_hours: float = Field(
        default=48.0,
        gt=0,
        validation_alias="RUN_HOURS",
        description="A run ends after this much training; stops and what a kill lost do not count.",
    )
    epoch_steps: int = Field(
        default=300_000,
        ge=1,
        validation_alias="EPOCH_STEPS",
        description="Environment steps between two checkpoints.",
    )
    episode_length: int = Field(
        default=30_000,
        ge=1,
        validation_alias="EPISODE_LENGTH",
        description="Decision steps after which an episode is truncated.",
    )
    ray_workers: int = Field(
        default=3,
        ge=0,
        validation_alias="RAY_WORKERS",
        description="Environment runner processes; 0 samples inside the training process.",
    )
    envs_per_worker: int = Field(
        default=1,
        ge=1,
        le=64,
        validation_alias="ENVS_PER_WORKER",
        description="Emulators a runner steps together. More cost memory, about 30 MB each.",
    )
    batch_size: int = Field(
        default=4096,
        ge=64,
        validation_alias="BATCH_SIZE",
        description="Environment steps an iteration. Larger is steadier and slower to react.",
    )
    ppo_preset: PpoPreset = Field(
        default="default",
        description="PPO's numbers, as far as they are not set one by one: default is what learns "
        "most a second, seed is the seeds' own (ADR 0011). Each says below what they differ in.",
    )
    minibatch_size: int = Field(
        default=_PPO.minibatch_size,
        ge=16,
        description="Samples a gradient step; at most the batch size. Preset seed: 512.",
    )
    epochs: int = Field(
        default=_PPO.epochs,
        ge=1,
        le=64,
        description="Passes over each batch. More overfit the batch and cost time. Preset seed: "
        "10.",
    )
    learning_rate: float = Field(
        default=_PPO.learning_rate,
        gt=0,
        description="Adam step size. Higher learns faster, then diverges. Preset seed: 5e-05.",
    )
    gamma: float = Field(
        default=_PPO.gamma,
        gt=0,
        lt=1,
        description="Discount a decision step. Preset seed: 0.99, which forgets a segment "
        "(ADR 0004).",
    )
    gae_lambda: float = Field(
        default=_PPO.gae_lambda, ge=0, le=1, description="Lambda of GAE, in both presets."
    )
    clip: float = Field(default=_PPO.clip, gt=0, description="PPO ratio clip, in both presets.")
    value_clip: float = Field(
        default=_PPO.value_clip, gt=0, description="Clip of the value loss, in both presets."
    )
    entropy: float = Field(
        default=_PPO.entropy, ge=0, description="Weight of the entropy bonus, in both presets."
    )
    overlap: bool = Field(
        default=True,
        description="Play the next batch while the update runs, with the policy of one update "
        "before: 1.2 to 1.5 times the steps. Off, a resumed run repeats the uninterrupted one bit "
        "for bit. Without effect when RAY_WORKERS is 0.",
    )
    sampler: Literal["fast", "stock"] = Field(
        default="fast",
        validation_alias="SAMPLER",
        description="stock plays and learns with RLlib's own runner, connectors and learner, to "
        "compare with: slower, and without captures, reward model, exploration and curiosity.",
    )
    policy: Literal["mlp", "cnn"] = Field(
        default="mlp",
        validation_alias="POLICY",
        description="mlp reads the 128 numbers of the observation; cnn looks at the last four "
        "screens, grey, 80 x 72, with those numbers as memory channels. It draws every step and "
        "learns several times slower.",
    )
    hidden: int = Field(default=256, ge=8, le=4096, description="Units of each policy layer.")
    frame_skip: int = Field(default=4, ge=1, le=60, description="Game frames a decision step.")
    reward_preset: Literal["seed", "default"] = Field(
        default="default", description="Reward weights: the seeds' own, or ours (ADR 0004)."
    )
    shaping_weight: float = Field(
        default=1.0,
        ge=0,
        description="Scale of what the reward model pays; 0 trains without it.",
    )
    shaping_mode: Literal["potential", "additive"] = Field(
        default="potential",
        description="potential pays the change of the reward model's answer and takes back what it "
        "gave: nothing can be farmed. additive pays the answer itself, once a place: louder, and "
        "the policy may come to live on it (ADR 0012).",
    )
    shaping_ramp_iterations: int = Field(
        default=5,
        ge=0,
        description="Iterations over which a new reward model takes over from the one before it. "
        "More spare the critic, and make the new one count later; 0 and 1 swap at once.",
    )
    shaping_swap_iterations: int = Field(
        default=10,
        ge=0,
        description="Iterations that a reward model counts at least before the next champion takes "
        "over. Not below the ramp. The first one of a run does not wait.",
    )
    additive_threshold: float = Field(
        default=0.5,
        description="Additive mode: answer that pays nothing yet, in root mean squares of the "
        "model's training data above the start of an episode. Higher pays for less.",
    )
    additive_clip: float = Field(
        default=2.0, gt=0, description="Additive mode: the most above the threshold that counts."
    )
    additive_count_power: float = Field(
        default=3.0,
        ge=0,
        description="Additive mode: the n-th step of an episode at one place with the same "
        "possessions pays n to the minus this. 0 pays every time, which can be farmed.",
    )
    additive_caution: float = Field(
        default=1.0,
        ge=0,
        description="Additive mode: standard deviations of an ensemble that are taken off its "
        "mean. Higher pays less where its networks disagree.",
    )
    additive_episode_cap: float = Field(
        default=10.0,
        gt=0,
        description="Additive mode: the most an episode is paid, before the weight.",
    )
    curiosity_weight: float = Field(
        default=0.0,
        ge=0,
        description="What an observation pays whose novelty is one standard deviation of the "
        "discounted return (random network distillation); 0 computes none (ADR 0012).",
    )
    imitation_weight: float = Field(
        default=0.0,
        ge=0,
        description="Weight of imitating the segments that were paid best in the last 50 "
        "iterations (advantage-weighted regression), beside PPO's loss; 0 imitates nothing. More "
        "holds on to rare finds, and to lucky ones.",
    )
    imitation_segments: int = Field(
        default=64, ge=1, description="Segments that are imitated: the best ones."
    )
    noop_start: int = Field(
        default=30, ge=0, le=255, description="An episode starts with 0 to this many NOP steps."
    )
    walk_start: int = Field(
        default=16,
        ge=0,
        le=255,
        description="After them come 0 to this many steps in directions drawn at random. More: "
        "episodes differ more, and say less of what the policy does from the start on.",
    )
    longest_wait_frames: int = Field(
        default=240,
        ge=0,
        description="While the player has no control, such as in a scene, a step goes on for this "
        "many game frames at most. 0: the policy acts through all of it, as in the original.",
    )

    explore_restarts: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of episodes that start at an archived state of a seldom visited place; "
        "0 starts all of them at the beginning (ADR 0010).",
    )
    explore_swarm: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Chance that an episode starts where another environment just reached a "
        "milestone. It fades from start to start; 0 never does.",
    )
    explore_states: int = Field(
        default=512, ge=16, description="Archived states a run keeps; 3 to 13 kB of disk each."
    )

    segment_frames: int = Field(
        default=300,
        ge=4,
        description="Game frames a segment, without those that are waited; the seeds fix 300.",
    )
    keyframe_steps: int = Field(
        default=600,
        ge=1,
        description="Longest replay before a segment; a save state costs about 30 ms.",
    )
    capture_uniform_share: float = Field(
        default=0.3,
        ge=0.2,
        le=1,
        description="Share of the captures drawn whatever they show, for fair metrics; the others "
        "are chosen where the reward model's networks disagree, and for new rooms and milestones.",
    )
    spool_captures: int = Field(
        default=500,
        ge=1,
        description="Captures that wait on disk at most, about 10 kB each. Beyond it new ones are "
        "dropped and counted; training goes on.",
    )
    best_episodes: int = Field(
        default=3,
        ge=0,
        description="Best episodes of a run whose actions are kept, by milestones, then by return, "
        "to be filmed by `python -m rlaif.trainer.videos`; 0 keeps none.",
    )
    captures_per_minute: float = Field(
        default=60.0,
        ge=0,
        description="Segments captured for the judges at most. Judges cost far more than play.",
    )
    judge_backlog: int = Field(
        default=64,
        ge=1,
        description="No captures while this many segments wait for exporter or judges.",
    )
    watch_fps: float = Field(
        default=15.0,
        ge=0,
        le=60,
        description="Pictures a second of the watched environment; 0 shows none.",
    )

    # Runs: what is trained, evaluated and kept.
    mode: Mode = Field(
        default="continuous",
        description="continuous trains until RUN_HOURS; epoch trains to the next multiple of "
        "EPOCH_STEPS; pipeline is continuous with an evaluation every EVAL_INTERVAL epochs; "
        "evaluation plays a checkpoint and trains nothing.",
    )
    run_id: Id | None = Field(
        default=None,
        description="Run to resume, from this disk or from the models store; begun under this "
        "name when neither knows it. Unset: the service resumes the newest, rlaif-train "
        "begins a new one.",
    )
    checkpoint: str | None = Field(
        default=None,
        description="Checkpoint to evaluate, or whose policy a new run begins with: a run's id "
        "(its newest), RUN/iteration_N, or a directory.",
    )
    reward_model_path: Path | None = Field(
        default=None,
        description="Reward model (safetensors) to begin with; unset waits for the champion.",
    )
    eval_interval: int = Field(
        default=1,
        ge=0,
        validation_alias="EVAL_INTERVAL",
        description="Epochs between two evaluations of a pipeline; 0 never evaluates.",
    )
    eval_episodes: int = Field(
        default=8, ge=1, le=1000, description="Episodes an evaluation. More are surer and slower."
    )
    eval_episode_length: int = Field(
        default=3_000, ge=1, description="Decision steps after which its episodes are cut."
    )
    eval_seed: int = Field(
        default=1_000, ge=0, description="Seed of its episodes: the same one plays the same starts."
    )
    eval_greedy: bool = Field(
        default=False,
        description="Always take the likeliest action instead of drawing it, as training does. A "
        "greedy policy often walks into a wall for ever.",
    )
    checkpoint_minutes: float = Field(
        default=10.0,
        gt=0,
        description="A checkpoint at least this often, besides the end of every epoch: the most "
        "training that a kill can cost.",
    )
    checkpoints_kept: int = Field(
        default=2,
        ge=1,
        description="Newest checkpoints kept of a run, on disk and in the models store; the one "
        "with the best evaluation stays too.",
    )
    stop_seconds: float = Field(
        default=6.0,
        gt=0,
        description="How long a run may take to save when asked to stop; then it is ended. It "
        "must hold an iteration, and be shorter than what ends the service. rlaif-train takes 60 "
        "at least.",
    )
    run_on: Literal["process", "ray-job"] = Field(
        default="process",
        description="process trains in a child process; ray-job submits rlaif-train to the Ray "
        "cluster whose dashboard RAY_ADDRESS names.",
    )
    ray_address: str | None = Field(
        default=None,
        validation_alias="RAY_ADDRESS",
        description="Ray cluster: http://HEAD:8265 submits jobs to it, auto or HOST:6379 joins it "
        "from here. Unset starts a small one of the run's own.",
    )
    ray_job_entrypoint: str = Field(
        default="rlaif-train", description="Command that a Ray job starts; options are added."
    )

    @model_validator(mode="after")
    def _ramp_ends_before_the_next_swap(self) -> Self:
        if self.shaping_ramp_iterations > max(1, self.shaping_swap_iterations):
            raise ValueError(
                f"shaping_ramp_iterations is {self.shaping_ramp_iterations} but reward models may "
                f"be swapped every {self.shaping_swap_iterations} iterations: a ramp must end "
                "before the next one begins; lower the ramp or raise shaping_swap_iterations"
            )
        return self

    @model_validator(mode="after")
    def _initial_states_are_readable(self) -> Self:
        if any(not 0 < weight < math.inf for _, weight in self.initial_states):
            raise ValueError(
                f"initial_state_paths is {self.initial_state_paths!r}: weights must be above 0 and "
                "finite; leave out what is never to be drawn"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = cls.model_fields.items()
        return filled(
            given, {name: str(f.validation_alias) for name, f in fields if f.validation_alias}
        )

    @property
    def initial_states(self) -> tuple[tuple[Path, float], ...]:
        """(save state, weight) of each; empty for power-on."""
        first = () if self.initial_state_path is None else ((self.initial_state_path, 1.0),)
        given = [item.strip() for item in self.initial_state_paths.split(",")]
        return first + tuple(_weighted(item) for item in given if item)

    @property
    def own_ray(self) -> bool:
        """Whether the training process starts a Ray of its own, of this machine alone."""
        return self.ray_address is None or self.ray_address.startswith("http")

    @property
    def segment_steps(self) -> int:
        """Decision steps a segment."""
        return max(1, self.segment_frames // self.frame_skip)


def _weighted(item: str) -> tuple[Path, float]:
    """`PATH=WEIGHT`, or a path alone, which may hold a `=` too."""
    path, _, weight = item.rpartition("=")
    try:
        return (Path(path), float(weight)) if path else (Path(item), 1.0)
    except ValueError:
        return Path(item), 1.0
