"""The language model that plays: takeovers, suggestions, and what its answers cost."""

from panels import Dashboard, Panel, quantiles

_CALLS = "rlaif_trainer_planner_calls_total"
_ASKED = f'sum by (mode) (rate({_CALLS}{{outcome!="dropped"}}[$__rate_interval]))'

PLANNER = Dashboard(
    "planner",
    "The language model plays",
    "Takeovers and suggestions of the planner: how often they help, and how fast its answers come.",
    {
        "Takeovers": (
            Panel(
                "Takeovers that were done",
                {
                    'sum by (mode) (rate(rlaif_trainer_takeovers_total{ending="done"}'
                    "[$__rate_interval]))"
                    " / sum by (mode) (rate(rlaif_trainer_takeovers_total[$__rate_interval]))": (
                        "{{mode}}"
                    )
                },
                "Plans that were played to their end, of all takeovers that ended.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "How takeovers ended",
                {
                    "60 * sum by (ending) (rate(rlaif_trainer_takeovers_total"
                    "[$__rate_interval]))": "{{ending}}"
                },
                "A minute; every ending but `done` is the cause why not.",
            ),
            Panel(
                "What became of plans",
                {
                    "60 * sum by (mode, fate) (rate(rlaif_trainer_plans_total"
                    "[$__rate_interval]))": "{{mode}} {{fate}}"
                },
                "A minute. Stale: the room or the situation had changed when the plan came.",
            ),
            Panel(
                "Share of the steps",
                {
                    "sum by (mode) (rate(rlaif_trainer_planner_steps_total[$__rate_interval]))"
                    " / ignoring(mode) group_left"
                    " sum(rate(rlaif_trainer_env_steps[$__rate_interval]))": "{{mode}}"
                },
                "Environment steps that the planner played; the policy learns from the others.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "Rooms an episode",
                {"rlaif_trainer_rooms_per_episode": "distinct rooms"},
                "Mean of the last 100 episodes.",
            ),
        ),
        "Guidance": (
            Panel(
                "Suggestions that were followed",
                {
                    'sum by (mode) (rate(rlaif_trainer_suggestions_total{fate="followed"}'
                    "[$__rate_interval]))"
                    ' / sum by (mode) (rate(rlaif_trainer_suggestions_total{fate!="given"}'
                    "[$__rate_interval]))": "{{mode}}"
                },
                "Of those that ended. One button in eight is followed by chance.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "How suggestions ended",
                {
                    '60 * sum by (mode, fate) (rate(rlaif_trainer_suggestions_total{fate!="given"}'
                    "[$__rate_interval]))": "{{mode}} {{fate}}"
                },
                "A minute.",
            ),
            Panel(
                "Reward for following",
                {
                    "60 * sum by (mode) (rate(rlaif_trainer_guidance_bonus_total"
                    "[$__rate_interval]))": "{{mode}}"
                },
                "A minute, over all environments.",
            ),
        ),
        "Calls": (
            Panel(
                "Calls with a usable answer",
                {
                    f'sum by (mode) (rate({_CALLS}{{outcome="ok"}}[$__rate_interval]))'
                    f" / {_ASKED}": "{{mode}}"
                },
                "Cached answers are among them.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "Time of a call, by route",
                quantiles("rlaif_trainer_planner_call_seconds", "mode"),
                unit="s",
            ),
            Panel(
                "Calls by how they ended",
                {
                    f"sum by (mode, outcome) (rate({_CALLS}[$__rate_interval]))": (
                        "{{mode}} {{outcome}}"
                    )
                },
                unit="ops",
            ),
            Panel(
                "Not asked, and from the cache",
                {
                    "sum by (mode, why) (rate(rlaif_trainer_planner_not_asked_total"
                    "[$__rate_interval]))": "{{mode}} {{why}}",
                    "sum by (mode) (rate(rlaif_trainer_planner_cached_answers_total"
                    "[$__rate_interval]))": "{{mode}} cached",
                },
                "Busy: too many in flight. Resting: the route is taken for broken.",
                unit="ops",
            ),
            Panel(
                "In flight",
                {"sum by (mode) (rlaif_trainer_planner_calls_in_flight)": "{{mode}}"},
                "At the end of the last iteration.",
            ),
            Panel(
                "Tokens a second",
                {
                    "sum by (mode, kind) (rate(rlaif_trainer_planner_tokens_total"
                    "[$__rate_interval]))": "{{mode}} {{kind}}"
                },
            ),
        ),
    },
)
