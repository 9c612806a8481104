"""Reward model: versions, gate measurements and drift."""

from panels import Dashboard, Panel

REWARD_MODEL = Dashboard(
    "reward-model",
    "Reward model",
    "Versions, gate measurements and drift.",
    {
        "Versions": (
            Panel(
                "Versions",
                {
                    "max(rlaif_reward_model_champion_version)": "live",
                    "max(rlaif_trainer_reward_model_version)": "loaded",
                },
                "0: none is live.",
            ),
            Panel(
                "Trainings by outcome",
                {
                    "sum by (outcome) (increase(rlaif_reward_model_attempts_total[1h]))": (
                        "{{outcome}}"
                    )
                },
                "Within an hour. Rejected by the gate; held: another version is pinned.",
            ),
            Panel(
                "Demotions, alarms, rejections",
                {
                    "increase(rlaif_reward_model_champions_demoted_total[1h])": "demoted",
                    "increase(rlaif_reward_model_watchdog_alarms_total[1h])": "watchdog",
                    "increase(rlaif_trainer_reward_models_refused_total[1h])": (
                        "rejected by the trainer"
                    ),
                    "max(rlaif_reward_model_champion_pinned)": "pinned",
                },
                "Within an hour.",
            ),
        ),
        "Gate": (
            Panel(
                "Accuracy on unseen episodes",
                {"max by (of) (rlaif_reward_model_heldout_accuracy_ratio)": "{{of}}"},
                "Accuracy on decided pairs; crossfit_low is the lower bound of crossfit.",
                unit="percentunit",
                maximum=1,
                width=12,
            ),
            Panel(
                "Calibration error",
                {"max(rlaif_reward_model_heldout_ece_ratio)": "last candidate"},
                width=6,
            ),
            Panel(
                "Training duration",
                {
                    "histogram_quantile(0.9, sum by (le) (rate("
                    "rlaif_reward_model_training_seconds_bucket[1h])))": "90th percentile"
                },
                unit="s",
                width=6,
            ),
        ),
        "Drift": (
            Panel(
                "Disagreement of the members",
                {"max(rlaif_reward_model_disagreement_ratio)": "last candidate"},
                "Rises when play leaves the distribution of the labels.",
            ),
            Panel(
                "Accuracy forward in time",
                {
                    'max(rlaif_reward_model_heldout_accuracy_ratio{of="forward"})': "forward",
                    'max(rlaif_reward_model_heldout_accuracy_ratio{of="crossfit"})': "cross-fitted",
                },
                "Forward below cross-fit: the model generalizes less to newer play.",
                unit="percentunit",
                maximum=1,
            ),
        ),
        "Labels": (
            Panel("Labels", {"max(rlaif_reward_model_labels)": "labels"}),
            Panel(
                "Scores not used as labels",
                {"max by (reason) (rlaif_reward_model_scores_skipped)": "{{reason}}"},
            ),
            Panel(
                "Pairs decided by judges only",
                {"max(rlaif_reward_model_judged_pairs_ratio)": "of decided pairs"},
                unit="percentunit",
                maximum=1,
            ),
        ),
    },
)
