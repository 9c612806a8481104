"""Judges: latency, agreement and accuracy of the language models."""

from panels import Dashboard, Panel, quantiles, rates

JUDGES = Dashboard(
    "judges",
    "Judges",
    "Latency, agreement and accuracy of the language models.",
    {
        "Calls": (
            Panel(
                "Call latency by judge",
                quantiles("rlaif_judge_call_seconds", "judge"),
                unit="s",
            ),
            Panel(
                "Calls by outcome",
                {
                    "sum by (judge, outcome) (rate(rlaif_judge_calls_total[$__rate_interval]))": (
                        "{{judge}} {{outcome}}"
                    )
                },
                "Invalid and length: answers that do not match the schema.",
                unit="ops",
            ),
            Panel(
                "Routes and trust",
                {'min by (check) (rlaif_judge_check_ok{check=~"route:.+|trust:.+"})': "{{check}}"},
                "1: in order.",
                maximum=1,
            ),
        ),
        "Agreement": (
            Panel(
                "Agreement of votes",
                {"avg by (criterion) (rlaif_judge_agreement_ratio)": "{{criterion}}"},
                "Share of votes equal to the most common vote, over the last 100 scores.",
                unit="percentunit",
                maximum=1,
            ),
            Panel(
                "Kappa against the RAM",
                {"avg by (judge, criterion) (rlaif_judge_truth_kappa)": "{{judge}} {{criterion}}"},
                "0 is chance; look closer below 0.6.",
                minimum=None,
                maximum=1,
            ),
            Panel(
                "Canary accuracy",
                {
                    "avg by (judge, criterion) (rlaif_judge_canary_accuracy_ratio)": (
                        "{{judge}} {{criterion}}"
                    )
                },
                "Synthetic segments with known answers; investigate below 80 %.",
                unit="percentunit",
                maximum=1,
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
                "Of the criteria requested from a judge; investigate above 15 %.",
                unit="percentunit",
                maximum=1,
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
                "Agreement between both orders: investigate below 60 %. Without position bias the "
                "first is preferred in half.",
                unit="percentunit",
                maximum=1,
            ),
        ),
        "Cost per label": (
            Panel(
                "Tokens per second",
                {
                    "sum by (judge, kind) (rate(rlaif_judge_tokens_total[$__rate_interval]))": (
                        "{{judge}} {{kind}}"
                    )
                },
            ),
            Panel(
                "Tokens per label",
                {
                    "avg(rlaif_judge_tokens_per_label)": "of a label",
                    "max(rlaif_judge_tokens_today)": "today",
                },
            ),
            Panel(
                "Seconds per label",
                {"avg(rlaif_judge_seconds_per_label)": "of model calls"},
                unit="s",
            ),
            Panel(
                "Scores",
                rates("rlaif_judge_scores_total", "result"),
                unit="ops",
            ),
            Panel(
                "Quest position",
                rates("rlaif_judge_quests_total", "result"),
                "Closer to, as far as, or farther from the next objective.",
                unit="ops",
            ),
            Panel(
                "Share decided by language models",
                {"avg(rlaif_judge_judged_share_ratio)": "of the scores' weight"},
                "The rest is computed from RAM.",
                unit="percentunit",
                maximum=1,
            ),
        ),
    },
)
