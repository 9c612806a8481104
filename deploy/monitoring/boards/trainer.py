"""Trainer: how fast the run goes, how far it gets, and what pays."""

from panels import Dashboard, Panel

TRAINER = Dashboard(
    "trainer",
    "Trainer",
    "How fast the run goes, how far it gets, and what pays.",
    {
        "Speed": (
            Panel(
                "Steps a second",
                {"rlaif_trainer_steps_per_second": "{{instance}}"},
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
                "Rooms an episode",
                {"rlaif_trainer_rooms_per_episode": "distinct rooms"},
                "Mean of the last 100 episodes.",
            ),
            Panel(
                "Milestones",
                {"rlaif_trainer_milestone_fraction": "of the main milestones"},
                "Mean share, of the last 100 episodes.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "Return of an episode",
                {"rlaif_trainer_episode_return": "{{part}}"},
                "The game's part and the reward model's (shaping).",
                least=None,
            ),
        ),
        "What pays": (
            Panel(
                "Reward of a step, by part",
                {"rlaif_trainer_reward_mean": "{{part}}"},
                least=None,
            ),
            Panel(
                "Share of the absolute reward",
                {"rlaif_trainer_reward_share": "{{part}}"},
                unit="percentunit",
                most=1,
            ),
            Panel(
                "Potential and the game's reward",
                {
                    "rlaif_trainer_potential_mean": "potential of the live model",
                    'rlaif_trainer_episode_return{part="game"}': "return of the game's part",
                },
                "A potential that rises while the game's return stands still is what the watchdog "
                "looks for.",
                least=None,
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
                "Why segments were chosen",
                {
                    "60 * sum by (by) (rate("
                    "rlaif_trainer_segments_selected[$__rate_interval]))": "{{by}}"
                },
                "A minute.",
            ),
            Panel(
                "Not learned from",
                {
                    "increase(rlaif_trainer_samples_left_out_total[1h])": "steps",
                    "increase(rlaif_trainer_updates_left_out_total[1h])": "gradient steps",
                },
                "Within an hour; what was no number.",
            ),
        ),
    },
)
