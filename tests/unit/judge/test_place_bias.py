"""Whether a judge of pairs looks at the segments or at their places."""

from typing import Any

from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.trust.statistics import PairStatistics
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.data.comparisons import compared


def _standing(*answers: tuple[Any, Any]) -> PairStatistics:
    standing = PairStatistics()
    for straight, swapped in answers:
        standing.compared(compared(straight, swapped))
    return standing


def test_a_judge_that_always_takes_the_first_place_leans_wholly() -> None:
    standing = _standing(("first", "second"), ("first", "second"))
    assert (standing.first_slot, standing.consistency) == (1.0, 0.0)


def test_a_judge_that_looks_at_the_segments_leans_to_no_place() -> None:
    standing = _standing(("first", "first"), ("second", "second"), ("tie", "tie"))
    assert (standing.first_slot, standing.consistency) == (0.5, 1.0)


def test_an_order_without_an_answer_says_nothing_of_consistency() -> None:
    standing = _standing((None, "second"), ("first", "tie"))
    assert (standing.pairs, standing.both_answered, standing.consistency) == (2, 1, 0.0)
    assert standing.first_slot == 1.0


def test_before_the_first_answer_nothing_is_said() -> None:
    assert (PairStatistics().first_slot, PairStatistics().consistency) == (None, None)


def test_both_figures_are_metrics_and_in_the_report_of_the_judge() -> None:
    service = ServiceMetrics("judge")
    metrics = JudgeMetrics(service)
    metrics.compared("uncertain", "orders_disagree", compared("first", "second"))
    metrics.compared("ram_tie", "outage", None)
    text = service.exposition().decode()
    assert 'rlaif_judge_comparison_first_slot_ratio{judge="puzzle"} 1.0' in text
    assert 'rlaif_judge_comparison_consistency_ratio{judge="puzzle"} 0.0' in text
    assert 'rlaif_judge_comparisons_total{result="outage",why="ram_tie"} 1.0' in text
    report = metrics.statistics.judges["puzzle"].comparisons
    assert (report.pairs, report.first_slot, report.consistency) == (1, 1.0, 0.0)
