"""Labels of played segments, by the project's own components without a server.

    states ─ summarise ─ evidence ─ the expert's opinion ─ distortion ─ count ─ score ─ label
                              └──── what the RAM decides ────────────────────────┘

The judge's `summarise`, counting and RAM verdicts, the mock LLM's expert and its behaviour, and the
reward model's `label` are those of the services; only the JSON between them is left out.
"""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from played_segments import FRAME_SKIP, STEPS, PlayedSegment

from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.contracts.game.segments import SegmentManifest, StateRecord
from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import PROGRESS, RUBRIC_WEIGHTS, CriterionScore, ScoreRecord
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.ram_verdicts import ram_levels, ram_verdicts
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.panel.panel import count
from rlaif.judge.panel.schema import Verdict
from rlaif.judge.rubric.judges import JUDGES, Judge, briefed
from rlaif.judge.rubric.votes import COMPUTED, NoVote, QuestVote, certain
from rlaif.judge.settings import VoteSettings
from rlaif.mock_llm.behaviour import distorted, seeded
from rlaif.mock_llm.expert.opinion import SegmentOpinion, assess, quest_position_at
from rlaif.mock_llm.expert.world import GAME
from rlaif.mock_llm.settings import Behaviour
from rlaif.reward_model.labels.labels import (
    LabelError,
    LabelledSegment,
    kept_rows,
    label,
)

VOTING = VoteSettings()
PANEL = tuple(briefed(judge, GAME) for judge in JUDGES)
USUAL = Behaviour()
"""Default of the mock LLM: an expert with little noise."""

BARE = Behaviour(noise=0.0)
"""The expert without noise: the reference for wrong labels."""

USUAL_RISE = 0.15
"""Rise of a segment that moves towards the objective nearly all the time."""

_NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Seen:
    """A played segment as a judge and the reward model see it.

    Attributes:
        rows: The observations that a label keeps.
        opinion: Opinion of the expert.
        ram: Criterion → level that the RAM decides.
    """

    segment_id: str
    episode_id: str
    start_step: int
    rows: NDArray[np.float32]
    evidence: Evidence
    opinion: SegmentOpinion
    ram: dict[str, int]


def see(segment: PlayedSegment) -> Seen:
    """Evaluate a segment once, for all its labels."""
    records = [
        StateRecord(step=at, frame=FRAME_SKIP * (at + 1), action="NOP", state=state)
        for at, state in enumerate(segment.states)
    ]
    evidence = summarise(described(records))
    return Seen(
        segment_id=segment.segment_id,
        episode_id=segment.episode_id,
        start_step=segment.start_step,
        rows=kept_rows(segment.observations),
        evidence=evidence,
        opinion=assess(evidence),
        ram=ram_levels(evidence),
    )


def some(seen: Sequence[Seen], count: int, seed: int) -> list[Seen]:
    """Select whole episodes, with `count` segments or one less."""
    by_episode: dict[str, list[Seen]] = {}
    for item in seen:
        by_episode.setdefault(item.episode_id, []).append(item)
    episodes = sorted(by_episode)
    found: list[Seen] = []
    for index in np.random.default_rng(seed).permutation(len(episodes)).tolist():
        if len(found) + len(by_episode[episodes[index]]) > count:
            break
        found += by_episode[episodes[index]]
    return found


def judged(
    seen: Sequence[Seen], behaviour: Behaviour = USUAL, *, random_seed: int | None = None
) -> list[LabelledSegment]:
    """Labels by one judge, in the order of the segments; those on which it abstains are omitted.

    With a `random_seed` the judge is random.
    """
    found = []
    for place, item in enumerate(seen):
        try:
            found.append(_label(item, place, behaviour, random_seed))
        except LabelError as error:
            if error.reason != "abstained":
                raise
    return found


def unlike(item: LabelledSegment, **changes: object) -> LabelledSegment:
    """Return the label with other values and a matching digest."""
    label = repr(sorted(changes.items())) if "observations" not in changes else item.segment_id
    digest = hashlib.sha256(f"{item.score_sha256} {label}".encode()).hexdigest()
    return replace(item, **{"score_sha256": digest, **changes})  # type: ignore[arg-type]


def _label(
    item: Seen, place: int, behaviour: Behaviour, random_seed: int | None
) -> LabelledSegment:
    fields: dict[str, Any] = dict(_said(item, behaviour, random_seed))
    score = ScoreRecord(
        segment_id=item.segment_id,
        episode_id=item.episode_id,
        run_id="played",
        judge_config="benchmark",
        manifest_key="none",
        manifest_sha256="0" * 64,
        weights=dict(RUBRIC_WEIGHTS),
        calls=(),
        weighted=None,
        env_step=(place + 1) * STEPS,
        created_at=_NOW,
        truth=item.ram,
        **fields,
    )
    # Only the fields that a label uses: the files of the segment do not exist.
    fields = {
        "segment_id": item.segment_id,
        "episode_id": item.episode_id,
        "layout_version": LAYOUT_VERSION,
        "decision_steps": STEPS,
        "start_step": item.start_step,
        "env_step": score.env_step,
    }
    manifest = SegmentManifest.model_construct(**fields)
    digest = hashlib.sha256(score.model_dump_json().encode()).hexdigest()
    return label(score, manifest, item.rows, score_sha256=digest)


def _said(item: Seen, behaviour: Behaviour, random_seed: int | None) -> dict[str, object]:
    """`criteria`, `abstentions` and `quest` of a score, as composed by the panel."""
    decided = ram_verdicts(item.evidence, frozenset(COMPUTED))
    results: dict[str, CriterionScore | NoVote] = {
        name: level if isinstance(level, NoVote) else certain(level)
        for name, level in decided.items()
    }
    quest: QuestProgress | None = None
    for judge in PANEL:
        if all(criterion.name in decided for criterion in judge.criteria):
            continue
        poll = count(
            judge,
            [_vote(item, judge, vote, behaviour, random_seed) for vote in range(VOTING.votes)],
        )
        results = {**poll.criteria, **results}
        quest = quest or poll.quest
    return {
        "criteria": {n: found for n, found in results.items() if isinstance(found, CriterionScore)},
        "abstentions": {n: str(found) for n, found in results.items() if isinstance(found, NoVote)},
        "quest": quest,
    }


def _vote(
    item: Seen, judge: Judge, vote: int, behaviour: Behaviour, random_seed: int | None
) -> Verdict:
    if random_seed is not None:
        view = _random_opinion(item, random_seed)
    else:
        draw = seeded(behaviour.seed, item.segment_id, judge.name, vote)
        view = distorted(
            item.opinion, item.evidence, behaviour, draw, temperature=VOTING.temperature
        )
    levels = {criterion.name: view.levels.get(criterion.name) for criterion in judge.rated}
    if not judge.tells_quest:
        return Verdict("", levels)
    start, end = _whole(view.start), _whole(view.end)
    quest = QuestVote(start, end) if start and end else None
    return Verdict("", {PROGRESS: quest.level if quest else None, **levels}, quest)


def _random_opinion(item: Seen, seed: int) -> SegmentOpinion:
    """Random levels and a random rise, the same in every vote on a segment."""
    expert = item.opinion
    known = [name for name, level in expert.levels.items() if level is not None]
    if expert.rise is not None and "progress" not in known:
        known.append("progress")
    text = f"random {seed} {item.evidence.sha256()}"
    draw = random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))
    values = {name: draw.random() for name in sorted(known)}
    levels = {name: round(2 * values[name]) if name in values else None for name in expert.levels}
    if expert.start is None or expert.rise is None:
        return SegmentOpinion(None, None, levels)
    share = min(0.99, max(-0.99, 2.0 * values["progress"] - 1.0))
    rise = USUAL_RISE * share / (1.0 - abs(share))
    end = quest_position_at(expert.start.position + rise, expert.last)
    return SegmentOpinion(expert.start, end, levels)


def _whole(found: QuestPosition | None) -> QuestPosition | None:
    """The distance as in an answer, in half screens."""
    if found is None:
        return None
    return QuestPosition(objective=found.objective, distance=round(found.distance))
