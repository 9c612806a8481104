"""Trainer: throughput, progress and rewards of the run."""

from panels import Dashboard, Panel

TRAINER = Dashboard(
    "trainer",
    "Trainer",
    "Throughput, progress and rewards of the run.",
    {
        "Speed": (
            Panel(
                "Decisions and frames per second",
                {
                    "rlaif_trainer_steps_per_second": "decisions {{instance}}",
                    "rlaif_trainer_frames_per_second": "frames {{instance}}",
                },
            ),
            Panel("Environment steps", {"rlaif_trainer_env_steps": "{{instance}}"}),
            Panel(
                "Run in progress, and its attempts",
                {
                    "rlaif_trainer_run_in_progress": "in progress",
                    "rlaif_trainer_run_attempt": "starts of its process",
                },
            ),
        ),
        "Play": (
            Panel(
                "Rooms per episode",
                {"rlaif_trainer_rooms_per_episode": "distinct rooms"},
                "Mean of the last 100 episodes.",
            ),
            Panel(
                "Milestones",
                {"rlaif_trainer_milestone_fraction": "of the main milestones"},
                "Mean share, of the last 100 episodes.",
                unit="percentunit",
                maximum=1,
            ),
            Panel(
                "Episode return",
                {"rlaif_trainer_episode_return": "{{part}}"},
                "Game reward and shaping reward.",
                minimum=None,
            ),
        ),
        "Rewards": (
            Panel(
                "Reward per step, by component",
                {"rlaif_trainer_reward_mean": "{{part}}"},
                minimum=None,
            ),
            Panel(
                "Share of the absolute reward",
                {"rlaif_trainer_reward_share": "{{part}}"},
                unit="percentunit",
                maximum=1,
            ),
            Panel(
                "Potential and the game's reward",
                {
                    "rlaif_trainer_potential_mean": "potential of the live model",
                    'rlaif_trainer_episode_return{part="game"}': "return of the game's part",
                },
                "A rising potential with a flat game return suggests reward hacking.",
                minimum=None,
            ),
        ),
        "Search": (
            Panel(
                "Flags and level",
                {
                    "rlaif_trainer_search_marks": "distinct permanent flags",
                    "rlaif_trainer_search_level": "highest level of a state",
                },
                "Search of a run in quest mode. The last value is kept after its end.",
            ),
            Panel(
                "Frames per second",
                {"rate(rlaif_trainer_search_frames[$__rate_interval])": "all workers"},
                "Game frames; 60 are a second of the game.",
            ),
            Panel(
                "Time since the last finding",
                {
                    "(rlaif_trainer_search_seconds - rlaif_trainer_search_found_seconds)"
                    " and rlaif_trainer_search_running == 1": "since the newest new mark"
                },
                "Search time. After TRAINER_QUEST_QUIET_MINUTES without a finding the search ends.",
                unit="s",
            ),
            Panel(
                "States and workers",
                {
                    "rlaif_trainer_search_nodes": "stored states",
                    "rlaif_trainer_search_workers": "workers",
                },
            ),
        ),
        "Curriculum": (
            Panel(
                "Subtasks of the demonstrations",
                {"rlaif_trainer_curriculum_segments": "{{state}}"},
                "Mastered: the goal is reliably reached from the start.",
            ),
            Panel(
                "Frontier and success",
                {
                    "rlaif_trainer_curriculum_frontier_mean": "frontier, mean",
                    "rlaif_trainer_curriculum_success_mean": "success rate, mean",
                },
                "A frontier that does not move at a low success rate: the policy does not learn "
                "these subtasks.",
                unit="percentunit",
                maximum=1,
            ),
            Panel(
                "Start states of episodes",
                {
                    "60 * rate(rlaif_trainer_curriculum_tries[$__rate_interval])": (
                        "on a demonstration, per minute"
                    ),
                    "100 * rlaif_trainer_curriculum_power_on_share": "at power-on, percent",
                },
            ),
        ),
        "Captures": (
            Panel(
                "Captured and dropped",
                {
                    "60 * rate(rlaif_trainer_segments_captured[$__rate_interval])": "captured",
                    "60 * rate(rlaif_trainer_segments_dropped[$__rate_interval])": "dropped",
                },
                "A minute.",
            ),
            Panel(
                "Segments by selection reason",
                {
                    "60 * sum by (by) (rate("
                    "rlaif_trainer_segments_selected[$__rate_interval]))": "{{by}}"
                },
                "A minute.",
            ),
            Panel(
                "Segments without a label",
                {
                    "increase(rlaif_trainer_samples_left_out_total[1h])": "steps",
                    "increase(rlaif_trainer_updates_left_out_total[1h])": "gradient steps",
                },
                "Within an hour; NaN values.",
            ),
        ),
    },
)
