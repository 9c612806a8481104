"""Compares pairs of segments that a score alone cannot order, and keeps what came of each.

After a segment is scored there may be one comparison, of one of three kinds that take turns: a pair
about which the reward model's networks disagree, wherever and whenever it was scored; two recent
segments that the game's RAM cannot tell apart, with pictures of both; two recent ones of nearly
equal worth. A failure here costs a comparison, never a score.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Container, Mapping
from dataclasses import replace

from rlaif.contracts.comparisons import ComparisonRecord, WhyCompared
from rlaif.judge.evidence.loading import CorruptSegmentError
from rlaif.judge.panel.assignment import in_share
from rlaif.judge.panel.pair_choice import (
    Kind,
    Scored,
    Tie,
    Turns,
    nearly_tie,
    newest_partner,
    ram_ties,
)
from rlaif.judge.panel.pair_judge import NotComparableError, Pair, PairJudge, result_of
from rlaif.judge.panel.scored_segments import ScoredSegments
from rlaif.judge.panel.wanted_pairs import WantedPairs
from rlaif.judge.settings import CompareSettings
from rlaif.llm.ports import ModelError, UnreadableAnswerError
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)

OnCompared = Callable[[WhyCompared, str, ComparisonRecord | None], None]
"""Called with why, how it ended, and what was stored, if anything was."""

_KEPT = 64


class Comparisons:
    """Chooses pairs, has them compared, and stores what was said."""

    def __init__(
        self,
        store: ObjectStore,
        judges: Mapping[Kind, PairJudge],
        segments: ScoredSegments,
        wanted: WantedPairs,
        settings: CompareSettings,
        *,
        on_compared: OnCompared,
        distrusted: Callable[[], Container[str]] = frozenset,
    ) -> None:
        """Have pairs of each kind compared by the one of `judges`; a kind without one is left out.

        Judges that are `distrusted` now, on whatever it is, are not asked.
        """
        self._store = store
        self._judges = judges
        self._segments = segments
        self._wanted = wanted
        self._settings = settings
        self._on_compared = on_compared
        self._distrusted = distrusted
        self._recent: deque[Scored] = deque(maxlen=_KEPT)
        self._turns = Turns()
        # The list of wanted pairs is one thread's at a time.
        self._choosing = asyncio.Lock()

    async def after_scoring(self, scored: Scored) -> None:
        """Compare one pair when a segment that was just scored is in the share of comparisons."""
        recent = tuple(reversed(self._recent))
        if scored.record.weighted is not None:
            self._recent.append(scored)
        if not in_share("compare", scored.segment_id, self._settings.share):
            return
        async with self._choosing:
            chosen = await self._choose(scored, recent)
        if chosen is None:
            return
        judge, pair = chosen
        try:
            found = await self._compare(judge, pair)
        except (CorruptSegmentError, ObjectNotFoundError) as error:
            self._failed(pair.why, "unreadable", error)
        except UnreadableAnswerError as error:
            self._failed(pair.why, "unanswered", error)
        except (ModelError, StorageError) as error:
            self._failed(pair.why, "outage", error)
        except NotComparableError as error:
            self._failed(pair.why, error.result, error)
        else:
            self._on_compared(pair.why, result_of(found) if found else "repeated", found)

    async def _choose(
        self, scored: Scored, recent: tuple[Scored, ...]
    ) -> tuple[PairJudge, Pair] | None:
        """A pair of the kind whose turn it is, else of the next kind that has one."""
        for kind in self._turns.order():
            judge = self._judges.get(kind)
            if judge is None or judge.judge.name in self._distrusted():
                continue
            pair = await self._find(kind, scored, recent)
            if pair is not None:
                self._turns.served(kind)
                return judge, pair
        return None

    async def _find(self, kind: Kind, scored: Scored, recent: tuple[Scored, ...]) -> Pair | None:
        if kind == "wanted":
            return await asyncio.to_thread(self._find_wanted, scored.segment_id)
        if scored.record.weighted is None:
            return None
        other = newest_partner(scored, recent, self._tie(kind))
        if other is None:
            return None
        first, second = sorted((scored, other), key=lambda item: item.segment_id)
        return Pair(kind, first, second)

    def _tie(self, kind: Kind) -> Tie:
        if kind == "ram_tie":
            return ram_ties
        return lambda one, other: nearly_tie(one, other, margin=self._settings.margin)

    def _find_wanted(self, segment_id: str) -> Pair | None:
        """A pair of the reward model's list; one whose segments cannot be read is passed over."""
        try:
            pair = self._wanted.take(segment_id)
            if pair is None:
                return None
            first, second = (self._segments.read(name) for name in (pair.first, pair.second))
        except (ObjectNotFoundError, CorruptSegmentError) as error:
            self._failed("uncertain", "unreadable", error)
            return None
        except StorageError as error:
            self._failed("uncertain", "outage", error)
            return None
        if first.record.distrusted or second.record.distrusted:
            # It will be judged again, and a comparison counts for the scores that it was made of.
            self._on_compared(pair.why, "provisional", None)
            return None
        return Pair(pair.why, first, second)

    async def _compare(self, judge: PairJudge, pair: Pair) -> ComparisonRecord | None:
        """What was said and stored; None when another judge had stored its word before."""
        if pair.why == "ram_tie":
            pair = await asyncio.to_thread(self._with_pictures, pair, judge.judge.pictures)
        found = await judge.compare(pair)
        key = keys.comparison(found.judge_config, found.first, found.second)
        data = found.model_dump_json().encode()
        put_once, kind = self._store.put_once, "application/json"
        return found if await asyncio.to_thread(put_once, key, data, content_type=kind) else None

    def _with_pictures(self, pair: Pair, most: int) -> Pair:
        first, second = (self._segments.strip(item, most) for item in (pair.first, pair.second))
        if first is None or second is None:
            raise NotComparableError("no_pictures", "a segment has no pictures")
        return replace(pair, strips=(first, second))

    def _failed(self, why: WhyCompared, result: str, error: Exception) -> None:
        logger.info("no comparison (%s): %s", why, error)
        self._on_compared(why, result, None)
