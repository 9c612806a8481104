"""Planner: takeovers, suggestions and cost."""

from panels import Dashboard, Panel, quantiles

_CALLS = "rlaif_trainer_planner_calls_total"
_ASKED = f'sum by (mode) (rate({_CALLS}{{outcome!="dropped"}}[$__rate_interval]))'

PLANNER = Dashboard(
    "planner",
    "Planner",
    "Takeovers and suggestions of the planner: success and latency.",
    {
        "Takeovers": (
            Panel(
                "Completed takeovers",
                {
                    'sum by (mode) (rate(rlaif_trainer_takeovers_total{ending="done"}'
                    "[$__rate_interval]))"
                    " / sum by (mode) (rate(rlaif_trainer_takeovers_total[$__rate_interval]))": (
                        "{{mode}}"
                    )
                },
                "Completed plans, of all finished takeovers.",
                unit="percentunit",
                maximum=1,
            ),
            Panel(
                "Takeovers by outcome",
                {
                    "60 * sum by (ending) (rate(rlaif_trainer_takeovers_total"
                    "[$__rate_interval]))": "{{ending}}"
                },
                "Per minute, by outcome.",
            ),
            Panel(
                "Plans by outcome",
                {
                    "60 * sum by (mode, fate) (rate(rlaif_trainer_plans_total"
                    "[$__rate_interval]))": "{{mode}} {{fate}}"
                },
                "Per minute. Stale: the room or situation had changed before the plan arrived.",
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
                maximum=1,
            ),
            Panel(
                "Rooms per episode",
                {"rlaif_trainer_rooms_per_episode": "distinct rooms"},
                "Mean of the last 100 episodes.",
            ),
        ),
        "Guidance": (
            Panel(
                "Followed suggestions",
                {
                    'sum by (mode) (rate(rlaif_trainer_suggestions_total{fate="followed"}'
                    "[$__rate_interval]))"
                    ' / sum by (mode) (rate(rlaif_trainer_suggestions_total{fate!="given"}'
                    "[$__rate_interval]))": "{{mode}}"
                },
                "Of finished suggestions. The chance level is one in eight.",
                unit="percentunit",
                maximum=1,
            ),
            Panel(
                "Suggestions by outcome",
                {
                    '60 * sum by (mode, fate) (rate(rlaif_trainer_suggestions_total{fate!="given"}'
                    "[$__rate_interval]))": "{{mode}} {{fate}}"
                },
                "Per minute.",
            ),
            Panel(
                "Reward for following",
                {
                    "60 * sum by (mode) (rate(rlaif_trainer_guidance_bonus_total"
                    "[$__rate_interval]))": "{{mode}}"
                },
                "Per minute, over all environments.",
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
                maximum=1,
            ),
            Panel(
                "Call latency by route",
                quantiles("rlaif_trainer_planner_call_seconds", "mode"),
                unit="s",
            ),
            Panel(
                "Calls by outcome",
                {
                    f"sum by (mode, outcome) (rate({_CALLS}[$__rate_interval]))": (
                        "{{mode}} {{outcome}}"
                    )
                },
                unit="ops",
            ),
            Panel(
                "Calls not made, and cached answers",
                {
                    "sum by (mode, why) (rate(rlaif_trainer_planner_not_asked_total"
                    "[$__rate_interval]))": "{{mode}} {{why}}",
                    "sum by (mode) (rate(rlaif_trainer_planner_cached_answers_total"
                    "[$__rate_interval]))": "{{mode}} cached",
                },
                "Busy: too many requests in flight. Cooling down: the circuit breaker is open.",
                unit="ops",
            ),
            Panel(
                "In flight",
                {"sum by (mode) (rlaif_trainer_planner_calls_in_flight)": "{{mode}}"},
                "At the end of the last iteration.",
            ),
            Panel(
                "Tokens per second",
                {
                    "sum by (mode, kind) (rate(rlaif_trainer_planner_tokens_total"
                    "[$__rate_interval]))": "{{mode}} {{kind}}"
                },
            ),
        ),
    },
)
