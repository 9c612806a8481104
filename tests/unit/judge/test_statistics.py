from typing import Any

from rlaif.contracts.judging.scores import CriterionScore
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.trust.exclusion import KnownAnswer, Record
from rlaif.judge.trust.statistics import PairStatistics
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.data.judging.comparisons import compared
from rlaif.testing.data.judging.scores import judge_call, score_record


def _made() -> tuple[JudgeMetrics, ServiceMetrics]:
    metrics = ServiceMetrics("judge")
    return JudgeMetrics(metrics), metrics


def _voted(*levels: int, **changes: Any) -> CriterionScore:
    return CriterionScore(
        value=levels[0] / 2, votes=levels, agreement=1.0, judge=changes.get("judge", "state")
    )


def test_rates_are_shares_of_the_calls_that_were_made() -> None:
    metrics, _ = _made()
    outcomes = ("ok",) * 5 + ("invalid", "throttled", "error", "timeout", "ok")
    for outcome in outcomes:
        metrics.called(judge_call(outcome=outcome))
    metrics.called(judge_call(cached=True))
    report = metrics.statistics.judges["state"]
    assert report.parse_fail_rate == 0.1
    assert report.outcomes["throttled"] == 1
    assert report.cached_answers == 1
    assert metrics.statistics.judges["vision"].parse_fail_rate is None


def test_abstentions_of_every_kind_count_by_criterion_over_what_was_asked() -> None:
    metrics, service = _made()
    for found in (_voted(2, 2, 2), NoVote.INSUFFICIENT, NoVote.SPLIT, NoVote.INVALID):
        metrics.heard({"progress": found, "dialog": _voted(1, 1, 1)})
    judges = metrics.statistics.judges
    report = judges["state"]
    assert report.criteria["progress"].abstained == {
        "insufficient_evidence": 1,
        "split_votes": 1,
        "invalid_answers": 1,
    }
    assert report.criteria["progress"].abstain_rate == 0.75
    assert report.criteria["dialog"].abstain_rate == 0.0
    assert report.abstain_rate == 3 / 8
    assert judges["puzzle"].abstain_rate is None
    labels = {"judge": "state", "criterion": "progress", "result": "split_votes"}
    assert service.registry.get_sample_value("rlaif_judge_asked_total", labels) == 1


def test_votes_are_held_against_what_the_memory_decides() -> None:
    metrics, service = _made()
    for known, voted in ((0, 0), (0, 0), (2, 2), (2, 1)):
        metrics.scored(
            score_record(criteria={"progress": _voted(*[voted] * 3)}, truth={"progress": known})
        )
    truth = metrics.statistics.judges["state"].criteria["progress"].truth
    assert (truth.votes, truth.accuracy) == (12, 0.75)
    assert truth.kappa is not None
    assert 0 < truth.kappa < 1
    labels = {"judge": "state", "criterion": "progress", "known": "2", "voted": "1"}
    assert service.registry.get_sample_value("rlaif_judge_truth_votes_total", labels) == 3


def test_computed_levels_are_no_votes_and_audits_are() -> None:
    metrics, _ = _made()
    computed = CriterionScore(value=1, votes=(2,), agreement=1, judge="ram", source="computed")
    record = score_record(criteria={"novelty": computed}, truth={"novelty": 2})
    metrics.scored(record)
    assert metrics.statistics.of("novelty").truth.votes == 0
    metrics.scored(
        record.model_copy(update={"audits": {"novelty": _voted(1, 1, 1, judge="vision")}})
    )
    found = metrics.statistics.of("novelty").truth
    assert (found.votes, found.accuracy) == (3, 0.0)


def test_the_cost_is_that_of_a_label() -> None:
    metrics, service = _made()
    before = metrics.statistics.tokens_per_label
    assert before is None
    for _ in range(4):
        metrics.called(judge_call(prompt_tokens=100, completion_tokens=20, latency_seconds=0.5))
    metrics.scored(score_record(weighted=0.5))
    metrics.scored(score_record(weighted=None))
    metrics.scored(score_record(weighted=0.7))
    assert metrics.statistics.tokens_per_label == 240
    assert metrics.statistics.seconds_per_label == 1.0
    assert service.registry.get_sample_value("rlaif_judge_tokens_per_label") == 240


def test_a_judge_that_is_not_believed_shows_in_the_metrics() -> None:
    metrics, service = _made()
    record = Record(why_not="1 of 4 known answers right")
    record.canaries.extend(KnownAnswer(2, said, said == 2) for said in (2, 0, 0, 0))
    metrics.known("vision", "novelty", record)
    labels = {"judge": "vision", "criterion": "novelty"}
    assert service.registry.get_sample_value("rlaif_judge_believed", labels) == 0
    assert service.registry.get_sample_value("rlaif_judge_canary_accuracy_ratio", labels) == 0.25
    report = metrics.statistics.judges["vision"]
    assert not report.believed
    novelty = report.criteria["novelty"]
    assert (novelty.canaries, novelty.canaries_right) == (4, 1)
    assert novelty.why_not == "1 of 4 known answers right"
    assert metrics.statistics.judges["state"].believed


# Position bias of comparisons


def _pairs(*answers: tuple[Any, Any]) -> PairStatistics:
    pairs = PairStatistics()
    for straight, swapped in answers:
        pairs.compared(compared(straight, swapped))
    return pairs


def test_a_judge_that_prefers_the_first_place_is_biased() -> None:
    pairs = _pairs(("first", "second"), ("first", "second"))
    assert (pairs.first_slot, pairs.consistency) == (1.0, 0.0)


def test_a_judge_that_prefers_a_segment_in_both_orders_is_unbiased() -> None:
    pairs = _pairs(("first", "first"), ("second", "second"), ("tie", "tie"))
    assert (pairs.first_slot, pairs.consistency) == (0.5, 1.0)


def test_an_order_without_an_answer_does_not_count_for_consistency() -> None:
    pairs = _pairs((None, "second"), ("first", "tie"))
    assert (pairs.pairs, pairs.both_answered, pairs.consistency) == (2, 1, 0.0)
    assert pairs.first_slot == 1.0


def test_position_bias_is_in_metrics_and_in_the_report() -> None:
    service = ServiceMetrics("judge")
    metrics = JudgeMetrics(service)
    metrics.compared("uncertain", "orders_disagree", compared("first", "second"))
    metrics.compared("uncertain", "outage", None)
    text = service.exposition().decode()
    assert 'rlaif_judge_comparison_first_slot_ratio{judge="puzzle"} 1.0' in text
    assert 'rlaif_judge_comparison_consistency_ratio{judge="puzzle"} 0.0' in text
    assert 'rlaif_judge_comparisons_total{result="outage",why="uncertain"} 1.0' in text
    report = metrics.statistics.judges["puzzle"].comparisons
    assert (report.pairs, report.first_slot, report.consistency) == (1, 1.0, 0.0)
