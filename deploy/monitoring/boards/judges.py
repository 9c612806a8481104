"""Judges: how fast the language models answer, how much they agree, and with what is known."""

from panels import Dashboard, Panel, quantiles, rates

JUDGES = Dashboard(
    "judges",
    "Judges",
    "How fast the language models answer, how much they agree, and with what is known.",
    {
        "Calls": (
            Panel(
                "Time of a call, by judge",
                quantiles("rlaif_judge_call_seconds", "judge"),
                unit="s",
            ),
            Panel(
                "Calls by how they ended",
                {
                    "sum by (judge, outcome) (rate(rlaif_judge_calls_total[$__rate_interval]))": (
                        "{{judge}} {{outcome}}"
                    )
                },
                "Invalid and length are answers that fit no schema.",
                unit="ops",
            ),
            Panel(
                "Routes and trust",
                {'min by (check) (rlaif_judge_check_ok{check=~"route:.+|trust:.+"})': "{{check}}"},
                "1: in order.",
                most=1,
            ),
        ),
        "Agreement": (
            Panel(
                "Agreement of votes",
                {"avg by (criterion) (rlaif_judge_agreement_ratio)": "{{criterion}}"},
                "Share of votes equal to the commonest one, of the last 100 scores.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "Kappa against the RAM",
                {"avg by (judge, criterion) (rlaif_judge_truth_kappa)": "{{judge}} {{criterion}}"},
                "0 is chance; look closer below 0.6.",
                least=None,
                most=1,
            ),
            Panel(
                "Canaries that were right",
                {
                    "avg by (judge, criterion) (rlaif_judge_canary_accuracy_ratio)": (
                        "{{judge}} {{criterion}}"
                    )
                },
                "Made-up segments with known answers; look closer below 80 %.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "Abstained",
                {
                    "sum by (judge) (rate(rlaif_judge_asked_total"
                    '{result!="scored"}[$__rate_interval]))'
                    " / sum by (judge) (rate(rlaif_judge_asked_total[$__rate_interval]))": (
                        "{{judge}}"
                    )
                },
                "Of the criteria that a judge was asked for; look closer above 15 %.",
                unit="percentunit",
                most=1,
            ),
            Panel(
                "Abstentions by reason",
                {
                    "sum by (reason) (rate(rlaif_judge_abstentions_total[$__rate_interval]))": (
                        "{{reason}}"
                    )
                },
                unit="ops",
            ),
            Panel(
                "Comparisons in both orders",
                {
                    "avg by (judge) (rlaif_judge_comparison_consistency_ratio)": (
                        "{{judge}} orders agree"
                    ),
                    "avg by (judge) (rlaif_judge_comparison_first_slot_ratio)": (
                        "{{judge}} prefers the first"
                    ),
                },
                "Orders agree: look closer below 60 %. The first is preferred in half of all.",
                unit="percentunit",
                most=1,
            ),
        ),
        "Cost and what it buys": (
            Panel(
                "Tokens a second",
                {
                    "sum by (judge, kind) (rate(rlaif_judge_tokens_total[$__rate_interval]))": (
                        "{{judge}} {{kind}}"
                    )
                },
            ),
            Panel(
                "Tokens a label",
                {
                    "avg(rlaif_judge_tokens_per_label)": "of a label",
                    "avg(rlaif_judge_tokens_per_useful_label)": "of a useful label",
                    "max(rlaif_judge_tokens_today)": "today",
                },
            ),
            Panel(
                "Seconds a label",
                {"avg(rlaif_judge_seconds_per_label)": "of model calls"},
                unit="s",
            ),
            Panel(
                "Scores",
                rates("rlaif_judge_scores_total", "result"),
                unit="ops",
            ),
            Panel(
                "What is said of the quest",
                rates("rlaif_judge_quests_total", "result"),
                "Closer to the next objective, as near as before, or away from it.",
                unit="ops",
            ),
            Panel(
                "Share that models decided",
                {"avg(rlaif_judge_judged_share_ratio)": "of the scores' weight"},
                "The rest is read off the RAM.",
                unit="percentunit",
                most=1,
            ),
        ),
    },
)
