"""People compare two segments here: which pair is next, what they said, and what the judges said.

What is asked gives nothing away; the judges' words come with the answer to a vote. The vote is a
line of the log before anybody sees them, with what was thought of the pair at that moment.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from rlaif.contracts.reviews import AgreementReport, Clip, PairToReview, VoteReport, Word
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.votes import (
    MODEL,
    WHOLE,
    Choice,
    Opinion,
    Verdict,
    VoteRecord,
    WhyReviewed,
)
from rlaif.reward_model.labels.agreement import agreement_report
from rlaif.reward_model.labels.labels import LabelError, LabelledSegment
from rlaif.reward_model.labels.opinions import lean, opinions_of_judges, opinions_of_labels
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.reward_model.labels.vote_log import VoteLog
from rlaif.reward_model.labels.wanted import Ids
from rlaif.reward_model.learning.exam import probability
from rlaif.reward_model.learning.reviewing import ReviewPair, dispute, pairs_to_review
from rlaif.reward_model.learning.split_halves import ends_of
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import paid_of_ends
from rlaif.reward_net.potential import PotentialFunction
from rlaif.storage import keys
from rlaif.storage.ports import StorageError

logger = logging.getLogger(__name__)

_MOST_PEOPLE = 2
"""Who voted on a pair before it leaves the list: a third one would add nothing to the fit."""

_MOST_GROWTH = 1.25
"""Growth of the labels after which the list is made again without a training."""

_LEAST_LEFT = 4
_MOST_WORDS = 24
_MOST_SERVED = 1024


class UnknownPairError(LookupError):
    """One of the two segments is no label now."""


class VoteConflictError(ValueError):
    """The vote cannot be taken back."""


@dataclass(frozen=True)
class Ballot:
    """What a person answered.

    Attributes:
        a: Segment that was shown as A.
        blind: The page says that no other word about the pair was shown before.
        request_id: Equal in repetitions of one request.
    """

    actor: str
    a: str
    choice: Choice
    blind: bool
    request_id: str = ""


@dataclass(frozen=True)
class _List:
    """Pairs to review, and what they were chosen by."""

    pairs: tuple[ReviewPair, ...]
    net: RewardNet | None
    labels: int


class ReviewDesk:
    """Serves pairs, and appends votes to the log. Methods raise `StorageError`."""

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
        self._served: dict[Ids, ReviewPair] = {}
        self._choosing = asyncio.Lock()

    @property
    def labels(self) -> int:
        """Labels that pairs are made of."""
        return len(self._training.labels)

    @property
    def records(self) -> tuple[VoteRecord, ...]:
        """The log, oldest first."""
        return self._votes.records

    async def next_pairs(self, actor: str, limit: int) -> list[PairToReview]:
        """The pairs that this person should see next, most wanted first."""
        labels = {item.segment_id: item for item in self._training.labels}
        done = self._done(actor)

        def left(pairs: tuple[ReviewPair, ...]) -> list[ReviewPair]:
            return [p for p in pairs if p.ids not in done and labels.keys() >= set(p.ids)]

        async with self._choosing:
            if self._list is None or self._is_old(self._list, len(left(self._list.pairs))):
                net = await asyncio.to_thread(self._network)
                self._list = _List(
                    await asyncio.to_thread(
                        pairs_to_review, list(labels.values()), net, done, self._training.settings
                    ),
                    self._training.net,
                    len(labels),
                )
            chosen = left(self._list.pairs)[:limit]
            self._remember(chosen)
        return [_to_review(labels[pair.first], labels[pair.second]) for pair in chosen]

    def pair(self, first: str, second: str) -> PairToReview:
        """Any two segments that are labels."""
        one, other = self._labelled(first), self._labelled(second)
        if first == second:
            raise UnknownPairError(f"{first} cannot be compared with itself")
        return _to_review(one, other)

    async def vote(self, first: str, second: str, ballot: Ballot) -> tuple[VoteReport, bool]:
        """Append a vote; (what the judges say of the pair, whether a line was written).

        A request that was answered before gets its first answer. A vote of a person who voted on
        the pair before is not blind, whatever the page says.
        """
        shown = self.pair(first, second)
        if ballot.a not in (shown.a.segment_id, shown.b.segment_id):
            raise UnknownPairError(f"{ballot.a} is neither {first} nor {second}")
        b = second if ballot.a == first else first
        return await asyncio.to_thread(self._vote, ballot.a, b, ballot)

    async def undo(self, number: int, actor: str, request_id: str = "") -> tuple[VoteRecord, bool]:
        """Append that a vote is taken back by who cast it; (the line, whether it was written)."""
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
        self._training.look_soon()
        return record, written

    async def agreement(self) -> AgreementReport:
        """How often judges and people say the same."""
        return await asyncio.to_thread(
            agreement_report, self._votes.records, teaching=self._training.votes
        )

    def _vote(self, a: str, b: str, ballot: Ballot) -> tuple[VoteReport, bool]:
        labels = self._labelled(a), self._labelled(b)
        config = self._training.judge_config
        # Who skips may be asked again, so nothing is shown to them.
        answered = ballot.choice != "skip"
        scores = [self._score(config, name) if answered else None for name in (a, b)]
        verdict = self._verdict(labels, scores) if answered else Verdict()
        why, information = self._why(labels)
        written = False

        def line(number: int, before: tuple[VoteRecord, ...]) -> VoteRecord:
            nonlocal written
            if ballot.request_id:
                for known in before:
                    if known.kind == "vote" and known.request_id == ballot.request_id:
                        return known
            written = True
            mine = [i for i in before if i.actor == ballot.actor and i.kind == "vote"]
            seen = {item.pair for item in mine if item.choice != "skip"}
            return VoteRecord(
                number=number,
                kind="vote",
                actor=ballot.actor,
                a=a,
                b=b,
                choice=ballot.choice,
                blind=ballot.blind and tuple(sorted((a, b))) not in seen,
                why=why,
                information=information,
                verdict=verdict,
                request_id=ballot.request_id,
                created_at=self._now(),
            )

        record = self._votes.append(line)
        self._training.look_soon()
        judges = [i for i in record.verdict.opinions if i.rater not in WHOLE and i.says]
        return VoteReport(
            record=record,
            agreed=sum(item.says == record.choice for item in judges),
            asked=len(judges),
            words=_words(record, scores),
        ), written

    def _verdict(
        self,
        pair: tuple[LabelledSegment, LabelledSegment],
        scores: list[ScoreRecord | None],
    ) -> Verdict:
        settings, (a, b) = self._training.settings, pair
        found: list[Opinion] = []
        one, other = scores
        if one is not None and other is not None:
            found += opinions_of_judges(one, other, tie_band=settings.pairs.tie_band)
        found += opinions_of_labels(a, b, settings.pairs)
        live = self._training.champions.live
        version = live.manifest.version if live is not None and live.pays else None
        net = self._live_network(version, a.layout_version)
        if net is not None:
            steps = np.array([item.decision_steps - 1 for item in (a, b)], np.int64)
            paid = paid_of_ends(PotentialFunction(net), ends_of([a, b]), steps, settings.gamma)
            margin = 2.0 * float(probability(net, paid[:1] - paid[1:])[0]) - 1.0
            found.append(Opinion(rater=MODEL, says=lean(margin, 0.0), margin=margin))
        return Verdict(
            judge_config=self._training.judge_config,
            model_version=version if net is not None else None,
            opinions=tuple(found),
        )

    def _why(self, pair: tuple[LabelledSegment, LabelledSegment]) -> tuple[WhyReviewed, float]:
        """Why the pair was shown; one that this process did not show was asked for."""
        first, second = sorted(item.segment_id for item in pair)
        served = self._served.get((first, second))
        if served is not None:
            return served.why, served.information
        settings = self._training.settings
        information, _ = dispute(pair, None, np.array([[0, 1]]), settings)
        return "asked", float(information[0])

    def _remember(self, pairs: list[ReviewPair]) -> None:
        """Keep why pairs were shown: the list may be another one when the vote comes."""
        for pair in pairs:
            self._served.pop(pair.ids, None)
            self._served[pair.ids] = pair
        for ids in list(self._served)[:-_MOST_SERVED]:
            del self._served[ids]

    def _done(self, actor: str) -> set[Ids]:
        """Pairs that this person answered, or enough people did."""
        people: dict[Ids, set[str]] = {}
        for line in self._votes.records:
            if line.kind == "vote":
                people.setdefault(line.pair, set()).add(line.actor)
        return {p for p, who in people.items() if actor in who or len(who) >= _MOST_PEOPLE}

    def _is_old(self, known: _List, left: int) -> bool:
        if known.net is not self._training.net:
            return True
        grown = len(self._training.labels) > _MOST_GROWTH * known.labels
        return grown or left < min(_LEAST_LEFT, len(known.pairs))

    def _network(self) -> RewardNet | None:
        """The networks of the last training; before the first of this process, the champion's."""
        if self._training.net is not None or not self._training.labels:
            return self._training.net
        live = self._training.champions.live
        version = live.manifest.version if live is not None and live.pays else None
        return self._live_network(version, self._training.labels[0].layout_version)

    def _live_network(self, version: int | None, layout_version: str) -> RewardNet | None:
        if version is None:
            return None
        try:
            registry = self._training.champions.registry
            return registry.network(version, layout_version=layout_version)
        except (RewardNetError, StorageError) as error:
            logger.info("the live model says nothing of a pair: %s", error)
            return None

    def _labelled(self, segment_id: str) -> LabelledSegment:
        for item in self._training.labels:
            if item.segment_id == segment_id:
                return item
        raise UnknownPairError(f"segment {segment_id} is no label now; ask for the next pair")

    def _score(self, judge_config: str | None, segment_id: str) -> ScoreRecord | None:
        if judge_config is None:
            return None
        try:
            return self._scores.record(keys.score(judge_config, segment_id))[0]
        except LabelError as error:
            logger.info("the judges' words are missing: %s", error)
            return None


def _to_review(one: LabelledSegment, other: LabelledSegment) -> PairToReview:
    """Which of the two is A is drawn by hash: neither their order nor a score has a say."""
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


def _words(record: VoteRecord, scores: list[ScoreRecord | None]) -> tuple[Word, ...]:
    """The judges' words about A and B, as these are called in the record."""
    by_segment = {score.segment_id: score for score in scores if score is not None}
    sides: tuple[tuple[Literal["a", "b"], str], ...] = (("a", record.a), ("b", record.b))
    found = [
        Word(of=side, judge=call.judge, model=call.model, vote=call.vote, text=call.rationale)
        for side, name in sides
        if (score := by_segment.get(name)) is not None
        for call in score.calls
        if call.outcome == "ok" and call.rationale
    ]
    return tuple(found[:_MOST_WORDS])
