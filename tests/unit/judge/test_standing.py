from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from rlaif.contracts.scores import CriterionScore
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.trust.canaries import CanaryResult
from rlaif.judge.views import standing_report
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.data.scores import judge_call, score_record


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
    report = standing_report(metrics.standings.judges["state"])
    assert (report.parse_fail_rate, report.retry_rate) == (0.1, 0.3)
    assert report.cached_answers == 1
    assert standing_report(metrics.standings.judges["vision"]).parse_fail_rate is None


def test_a_judge_abstains_only_from_what_it_was_asked() -> None:
    metrics, _ = _made()
    metrics.scored(
        score_record(
            criteria={"progress": _voted(2, 2, 2)},
            abstentions=dict.fromkeys(("dialog", "puzzle", "novelty"), "insufficient_evidence"),
            calls=(judge_call(judge="state"),),
        )
    )
    judges = metrics.standings.judges
    assert judges["state"].abstain_rate == 0.5
    assert judges["puzzle"].abstain_rate is None


def test_votes_are_held_against_what_the_memory_decides() -> None:
    metrics, service = _made()
    for known, voted in ((0, 0), (0, 0), (2, 2), (2, 1)):
        metrics.scored(
            score_record(criteria={"progress": _voted(*[voted] * 3)}, truth={"progress": known})
        )
    truth = standing_report(metrics.standings.judges["state"]).truth["progress"]
    assert (truth.votes, truth.accuracy, truth.pair_accuracy) == (12, 0.75, 1.0)
    assert truth.kappa is not None
    assert 0 < truth.kappa < 1
    labels = {"judge": "state", "criterion": "progress", "known": "2", "voted": "1"}
    assert service.registry.get_sample_value("rlaif_judge_truth_votes_total", labels) == 3


def test_computed_levels_are_no_votes_and_audits_are() -> None:
    metrics, _ = _made()
    computed = CriterionScore(value=1, votes=(2,), agreement=1, judge="ram", source="computed")
    record = score_record(criteria={"novelty": computed}, truth={"novelty": 2})
    metrics.scored(record)
    assert metrics.standings.judges["vision"].truth == {}
    metrics.scored(
        record.model_copy(update={"audits": {"novelty": _voted(1, 1, 1, judge="vision")}})
    )
    found = metrics.standings.judges["vision"].truth["novelty"]
    assert (found.votes, found.accuracy) == (3, 0.0)


def test_the_cost_is_that_of_a_useful_label() -> None:
    metrics, service = _made()
    before = metrics.standings.tokens_per_label
    assert before is None
    for _ in range(4):
        metrics.called(judge_call(prompt_tokens=100, completion_tokens=20, latency_seconds=0.5))
    metrics.scored(score_record(weighted=0.5))
    metrics.scored(score_record(weighted=None))
    metrics.scored(score_record(weighted=0.7))
    assert metrics.standings.tokens_per_label == 240
    assert metrics.standings.seconds_per_label == 1.0
    assert service.registry.get_sample_value("rlaif_judge_tokens_per_label") == 240


def test_a_judge_that_is_not_believed_shows_in_the_metrics() -> None:
    metrics, service = _made()
    metrics.canaries("vision", CanaryResult(4, 4, 2, ("novelty",)), believed=False)
    text = service.exposition().decode()
    found = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("judge") == "vision"
    }
    assert found["rlaif_judge_believed"] == 0
    assert found["rlaif_judge_canary_accuracy_ratio"] == 0.5
    report = standing_report(metrics.standings.judges["vision"])
    assert (report.believed, report.canary_constant) == (False, ["novelty"])
