"""Human comparison of two segments: the next pair, the vote, and the judges' opinions.

A pair is shown without any opinion about it. The judges' rationales come with the answer to a vote,
after the vote was appended to the log with all opinions at that moment.
"""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from rlaif.contracts.judging.reviews import (
    MODEL,
    PANEL,
    RAM,
    SIDE_BY_SIDE,
    WHOLE,
    AgreementReport,
    Clip,
    Lean,
    Opinion,
    PairToReview,
    Verdict,
    VoteRecord,
    VoteReport,
    VoteRequest,
    WhyReviewed,
    Word,
)
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, ScoreRecord
from rlaif.reward_model.labels.labels import LabelError, LabelledSegment
from rlaif.reward_model.labels.preferences import (
    COUNTERS_TIE_BAND,
    TIE_BAND,
    PairTable,
    counters_margin,
)
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.reward_model.labels.votes import VoteLog, valid_votes
from rlaif.reward_model.labels.worth import value_of_rise
from rlaif.reward_model.learning.fit.sides import Side
from rlaif.reward_model.learning.gate.evaluation import probability
from rlaif.reward_model.learning.pair_selection import (
    Ids,
    SelectedPair,
    dispute,
    pairs_to_review,
)
from rlaif.reward_model.review.agreement import agreement_report
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import Weighted
from rlaif.storage import keys

logger = logging.getLogger(__name__)

_MAX_PEOPLE = 2
"""Voters per pair; after them the pair is removed from the list."""

_MAX_GROWTH = 1.25
"""Growth of the labels after which the list is rebuilt without a training."""

_MIN_LEFT = 4
_MAX_WORDS = 24
_MAX_REMEMBERED = 1024
_ROUNDING = 1e-9


class UnknownPairError(LookupError):
    """One of the two segments is not a label now."""


class VoteConflictError(ValueError):
    """The vote cannot be withdrawn."""


@dataclass(frozen=True)
class _List:
    """Pairs to review, and the network and number of labels that they are based on."""

    pairs: list[SelectedPair]
    net: Weighted | None
    labels: int


class Review:
    """Serves pairs and appends votes to the log. Methods raise `StorageError`."""

    def __init__(
        self,
        training: TrainingLoop,
        votes: VoteLog,
        scores: ScoreReader,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._training = training
        self._votes = votes
        self._scores = scores
        self._now = now
        self._list: _List | None = None
        self._served: dict[Ids, SelectedPair] = {}
        self._choosing = asyncio.Lock()

    @property
    def labels(self) -> int:
        return len(self._training.labels)

    @property
    def records(self) -> tuple[VoteRecord, ...]:
        return self._votes.records

    async def next_pairs(self, actor: str, limit: int) -> list[PairToReview]:
        labels = {item.segment_id: item for item in self._training.labels}
        done = self._done(actor)

        def left(pairs: list[SelectedPair]) -> list[SelectedPair]:
            return [p for p in pairs if p.ids not in done and labels.keys() >= set(p.ids)]

        async with self._choosing:
            known = self._list
            if known is None or self._is_old(known, len(left(known.pairs))):
                net = self._training.net
                best = net or await asyncio.to_thread(self._training.champion_network)
                pairs = await asyncio.to_thread(
                    pairs_to_review, list(labels.values()), best, done, self._training.settings
                )
                known = self._list = _List(pairs, net, len(labels))
            chosen = left(known.pairs)[:limit]
        for pair in chosen:
            # The list may have been replaced when the vote arrives.
            self._served.pop(pair.ids, None)
            self._served[pair.ids] = pair
        for ids in list(self._served)[:-_MAX_REMEMBERED]:
            del self._served[ids]
        return [_to_review(*(labels[name] for name in pair.ids)) for pair in chosen]

    def pair(self, first: str, second: str) -> PairToReview:
        if first == second:
            raise UnknownPairError(f"{first} cannot be compared with itself")
        return _to_review(self._labelled(first), self._labelled(second))

    async def vote(
        self, first: str, second: str, vote: VoteRequest, request_id: str = ""
    ) -> tuple[VoteReport, bool]:
        """Append a vote; returns (the judges' opinions, whether a line was written).

        Requests of a person on a pair with the same `request_id` are retries and get the first
        answer. A second vote of a person on a pair is never blind, even if the request claims it.
        """
        if vote.a not in (first, second):
            raise UnknownPairError(f"{vote.a} is neither {first} nor {second}")
        self.pair(first, second)
        b = second if vote.a == first else first
        return await asyncio.to_thread(self._vote, b, vote, request_id)

    async def undo(self, number: int, actor: str, request_id: str = "") -> tuple[VoteRecord, bool]:
        """Withdraw an own vote; returns (the line, whether it was written)."""
        written = False

        def line(next_number: int, before: tuple[VoteRecord, ...]) -> VoteRecord:
            nonlocal written
            vote = next((i for i in before if i.number == number and i.kind == "vote"), None)
            if vote is None:
                raise UnknownPairError(f"there is no vote {number}")
            if vote.actor != actor:
                raise VoteConflictError(f"vote {number} was cast by {vote.actor}")
            known = next((i for i in before if i.kind == "undo" and i.undoes == number), None)
            if known is not None:
                return known
            written = True
            return VoteRecord(
                number=next_number, kind="undo", actor=actor, a=vote.a, b=vote.b, undoes=number,
                why=vote.why, request_id=request_id, created_at=self._now(),
            )  # fmt: skip

        record = await asyncio.to_thread(self._votes.append, line)
        self._training.wake()
        return record, written

    async def agreement(self) -> AgreementReport:
        return await asyncio.to_thread(
            agreement_report, self._votes.records, teaching=self._training.votes
        )

    def _vote(self, b: str, vote: VoteRequest, request_id: str) -> tuple[VoteReport, bool]:
        pair = self._side(vote.a, b)
        # A person who skips may see the pair again, so no opinion is shown.
        skipped = vote.choice == "skip"
        found = () if skipped else (self._score(name) for name in (vote.a, b))
        scores = [score for score in found if score is not None]
        verdict = Verdict() if skipped else self._verdict(pair, scores)
        why, information = self._why(pair)
        written = False
        ids = tuple(sorted((vote.a, b)))

        def line(number: int, before: tuple[VoteRecord, ...]) -> VoteRecord:
            nonlocal written
            mine = [i for i in before if (i.kind, i.actor, i.pair) == ("vote", vote.actor, ids)]
            known = next((i for i in mine if request_id and i.request_id == request_id), None)
            if known is not None:
                return known
            written = True
            return VoteRecord(
                number=number,
                kind="vote",
                actor=vote.actor,
                a=vote.a,
                b=b,
                choice=vote.choice,
                blind=vote.blind and all(i.choice == "skip" for i in mine),
                why=why,
                information=information,
                verdict=verdict,
                request_id=request_id,
                created_at=self._now(),
            )

        record = self._votes.append(line)
        self._training.wake()
        judges = [i for i in record.verdict.opinions if i.rater not in WHOLE and i.says]
        return VoteReport(
            record=record,
            agreed=sum(item.says == record.choice for item in judges),
            asked=len(judges),
            words=_rationales(record, scores),
        ), written

    def _side(self, a: str, b: str) -> Side:
        segments = [self._labelled(a), self._labelled(b)]
        return Side("pair", segments, PairTable(segments), [])

    def _verdict(self, pair: Side, scores: list[ScoreRecord]) -> Verdict:
        a, b = pair.segments
        found: list[Opinion] = []
        if len(scores) == 2:
            found += opinions_of_judges(*scores)
        found += opinions_of_labels(a, b)
        net = self._training.champion_network(a.layout_version)
        live = self._training.champions.live
        if net is not None:
            pay = pair.pay(PotentialFunction(net))
            margin = 2.0 * float(probability(net, pay[:1] - pay[1:])[0]) - 1.0
            found.append(Opinion(rater=MODEL, says=lean(margin, 0.0), margin=margin))
        return Verdict(
            judge_config=self._training.judge_config,
            model_version=live.manifest.version if live is not None and net is not None else None,
            opinions=tuple(found),
        )

    def _why(self, pair: Side) -> tuple[WhyReviewed, float]:
        """Why the pair was shown; one that this process did not select was requested."""
        first, second = sorted(item.segment_id for item in pair.segments)
        served = self._served.get((first, second))
        if served is not None:
            return served.why, served.information
        information, _ = dispute(pair, None, np.array([[0, 1]]))
        return "asked", float(information[0])

    def _done(self, actor: str) -> set[Ids]:
        votes = valid_votes(self._votes.records)
        answers = Counter(line.pair for line in votes if line.choice != "skip")
        mine = {line.pair for line in votes if line.actor == actor}
        return mine | {pair for pair, count in answers.items() if count >= _MAX_PEOPLE}

    def _is_old(self, known: _List, left: int) -> bool:
        if known.net is not self._training.net or self.labels > _MAX_GROWTH * known.labels:
            return True
        return left < min(_MIN_LEFT, len(known.pairs))

    def _labelled(self, segment_id: str) -> LabelledSegment:
        for item in self._training.labels:
            if item.segment_id == segment_id:
                return item
        raise UnknownPairError(f"segment {segment_id} is not a label now; request the next pair")

    def _score(self, segment_id: str) -> ScoreRecord | None:
        config = self._training.judge_config
        if config is None:
            return None
        try:
            return self._scores.record(keys.score(config, segment_id))[0]
        except LabelError as error:
            logger.info("no score of a voted segment: %s", error)
            return None


def _to_review(one: LabelledSegment, other: LabelledSegment) -> PairToReview:
    first, second = sorted((one, other), key=lambda item: item.segment_id)
    pair_id = f"{first.segment_id}--{second.segment_id}"
    if hashlib.sha256(pair_id.encode()).digest()[0] % 2:
        first, second = second, first
    return PairToReview(pair_id=pair_id, a=_clip(first), b=_clip(second))


def _clip(item: LabelledSegment) -> Clip:
    return Clip(
        segment_id=item.segment_id,
        episode_id=item.episode_id,
        decision_steps=item.decision_steps,
    )


def _rationales(record: VoteRecord, scores: list[ScoreRecord]) -> tuple[Word, ...]:
    by_segment = {score.segment_id: score for score in scores}
    sides: tuple[tuple[Literal["a", "b"], str], ...] = (("a", record.a), ("b", record.b))
    found = [
        Word(of=side, judge=call.judge, model=call.model, vote=call.vote, text=call.rationale)
        for side, name in sides
        if (score := by_segment.get(name)) is not None
        for call in score.calls
        if call.outcome == "ok" and call.rationale
    ]
    return tuple(found[:_MAX_WORDS])


def opinions_of_judges(a: ScoreRecord, b: ScoreRecord) -> list[Opinion]:
    """One opinion per judge that voted on either segment, by name.

    A judge scored each segment alone; its opinion is the difference of its scores over the criteria
    that it judged in both.
    """
    of_a, of_b = _voted_values(a), _voted_values(b)
    return [
        _opinion(judge, of_a.get(judge, {}), of_b.get(judge, {}))
        for judge in sorted(of_a.keys() | of_b.keys())
    ]


def opinions_of_labels(a: LabelledSegment, b: LabelledSegment) -> list[Opinion]:
    """Opinions of all judges together, of side-by-side comparisons, and of the RAM counters."""
    table = PairTable([replace(item, voted={}) for item in (a, b)])
    margin = float(table.compare(np.array([0]), np.array([1])).margin[0])
    known = bool(np.isfinite(margin))
    found = [
        Opinion(
            rater=PANEL,
            says=lean(margin, TIE_BAND) if known else None,
            margin=margin if known else None,
        )
    ]
    share = a.preferred.get(b.segment_id)
    if share is not None:
        shown = 2.0 * share - 1.0
        found.append(Opinion(rater=SIDE_BY_SIDE, says=lean(shown, 0.5), margin=shown))
    counted = counters_margin(a, b)
    if counted is not None:
        found.append(Opinion(rater=RAM, says=lean(counted, COUNTERS_TIE_BAND), margin=counted))
    return found


def lean(margin: float, tie_band: float) -> Lean:
    """The better segment by a margin; equal inside the tie band."""
    if abs(margin) < tie_band - _ROUNDING:
        return "equal"
    return "a" if margin > 0 else "b"


def _opinion(judge: str, a: Mapping[str, float], b: Mapping[str, float]) -> Opinion:
    common = sorted(a.keys() & b.keys())
    total = sum(RUBRIC_WEIGHTS[name] for name in common)
    if total <= 0:
        return Opinion(rater=judge, says=None)
    margin = sum(RUBRIC_WEIGHTS[name] * (a[name] - b[name]) for name in common) / total
    return Opinion(rater=judge, says=lean(margin, TIE_BAND), margin=margin)


def _voted_values(record: ScoreRecord) -> dict[str, dict[str, float]]:
    """Judge → criterion → value in [0, 1], of criteria decided by votes of language models."""
    found: dict[str, dict[str, float]] = {}
    for name, score in record.criteria.items():
        if score.source != "votes" or name not in RUBRIC_WEIGHTS:
            continue
        value = score.value if score.soft is None else score.soft
        if name == "progress" and record.quest is not None:
            value = value_of_rise(record.quest.rise)
        found.setdefault(score.judge, {})[name] = value
    return found
