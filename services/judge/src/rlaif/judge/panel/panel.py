"""The panel: selects the judges for a segment, asks them, and counts their votes.

A judge has at most two frozen prompts per game: all of its criteria, or only those that are never
computed completely. So its server's prefix cache holds two prefixes, not one per segment.

An outage of any route ends the whole round, so that a score does not depend on which judges happen
to be available. A route that has been down for too long is omitted, and its criteria abstain with
that reason. Requests for audits only are sent once without retries.

An answer that cannot be parsed is requested once more with another seed, a truncated one with twice
the tokens; after that the vote is lost. If nearly all answers of the route cannot be parsed, the
route counts as down instead.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import QuestProgress
from rlaif.contracts.judging.scores import PROGRESS, CriterionScore
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import JudgeCall, OnCall, verdict_request
from rlaif.judge.panel.schema import CutOffAnswerError, Verdict, read_answer
from rlaif.judge.rubric.judges import Judge, briefed, without
from rlaif.judge.rubric.votes import (
    Ballot,
    NoVote,
    QuestVote,
    certain,
    progress_score,
    tally,
    tally_quest,
)
from rlaif.judge.settings import VoteSettings
from rlaif.llm.ports import (
    BrokenRouteError,
    FailedRequestError,
    InvalidReplyError,
    Modality,
    ModelError,
    OutageError,
    RefusedError,
    UnreadableAnswerError,
)
from rlaif.llm.route import Route

logger = logging.getLogger(__name__)

Excluded = Mapping[str, frozenset[str]]
"""Judge → criteria on which its votes do not count."""

AUDIT_SECONDS = 30.0
"""Maximum delay of a complete score by the audit of its segment, unless the model is slow."""

_UNREAD = (NoVote.ROUTE_UNREADABLE, NoVote.INVALID, NoVote.CUT_OFF)
"""Reasons without a readable answer: the score is provisional."""
_ALL_BROKEN_RETRY_SECONDS = 3.0
_RECOVERY_SECONDS = 40.0
"""Time after an outage of all routes within which each is probed again."""
_REPAIR_SEED = 1000


COMPUTED_WHOLLY = frozenset({"novelty", "efficiency"})
"""Criteria that are computed for every segment with complete states."""

Vote = Verdict | NoVote
Results = Mapping[str, CriterionScore | NoVote]


@dataclass(frozen=True)
class Poll:
    """Result of the votes of one judge; `quest` explains its progress."""

    criteria: Results
    quest: QuestProgress | None = None


@dataclass(frozen=True)
class Case:
    """Input of the panel.

    Attributes:
        evidence: Facts about one segment.
        strip: PNG of its pictures with the player's path.
        decided: Criteria that need no judge, with their level or the reason for none.
        audit: Whether to request votes on these criteria too, which are kept separate.
    """

    evidence: Evidence
    strip: bytes | None = None
    decided: Mapping[str, int | NoVote] = field(default_factory=dict)
    audit: bool = False

    def open_criteria(self, judge: Judge) -> frozenset[str]:
        return frozenset(c.name for c in judge.criteria if c.name not in self.decided)


@dataclass(frozen=True)
class PanelResult:
    """Results of one segment.

    Attributes:
        results: Every criterion of every judge.
        audits: Votes on criteria that were decided without a judge.
        quest: Start and end on the quest, if a judge answered it.
        unread: Judges whose answers could not be parsed: the score is provisional.
        heard: Results of all asked judges, including excluded ones, on applicable criteria.
    """

    results: Results
    audits: Mapping[str, CriterionScore] = field(default_factory=dict)
    quest: QuestProgress | None = None
    unread: tuple[str, ...] = ()
    heard: Results = field(default_factory=dict)


class Panel:
    """The judges and their routes."""

    def __init__(
        self,
        judges: tuple[Judge, ...],
        routes: Mapping[str, Route],
        settings: VoteSettings,
        *,
        excluded: Callable[[], Excluded] = dict,
    ) -> None:
        """`routes` are by judge name.

        A judge with `excluded` criteria only is asked in audits only.
        """
        self._judges = judges
        self._routes = routes
        self._settings = settings
        self._excluded = excluded
        self._all_broken_at = float("-inf")
        self._reported: set[str] = set()

    async def judge(self, case: Case, on_call: OnCall) -> PanelResult:
        """Ask for all votes and count them.

        Raises:
            OutageError: A route, or all of them, cannot be used.
        """
        excluded, game = self._excluded(), case.evidence.end.game
        required = judges_needed(self._judges, case.decided, audit=False)
        if required:
            self._require_a_route()
        needed = {
            judge.name
            for judge in required
            if case.open_criteria(judge) - excluded.get(judge.name, frozenset())
        }
        asked = [
            briefed(judge, game)
            for judge in judges_needed(self._judges, case.decided, audit=case.audit)
        ]
        # Audits also measure excluded judges.
        audits = [
            asyncio.ensure_future(self._audit(judge, case, on_call))
            for judge in asked
            if case.audit and judge.name not in needed
        ]
        try:
            async with asyncio.TaskGroup() as group:
                asking = [
                    group.create_task(self._poll(judge, case, on_call))
                    for judge in asked
                    if judge.name in needed
                ]
            polls = [*(each.result() for each in asking), *[await audit for audit in audits]]
        except ExceptionGroup as failures:
            raise first_outage(failures) from failures
        finally:
            for audit in audits:
                audit.cancel()
            await asyncio.gather(*audits, return_exceptions=True)
        lost = {name for p in polls for name, found in p.criteria.items() if found in _UNREAD}
        unread = sorted({j.name for j in required if case.open_criteria(j) & lost})
        return self._result(case, polls, excluded, tuple(unread))

    def _require_a_route(self) -> None:
        """Raise OutageError if no judge can be asked: without any vote there is no score.

        If all routes fail, probes detect the outages one by one; a route in an outage for which
        callers still wait counts as unavailable.
        """
        uses: list[tuple[Route, Modality]] = [
            (self._routes[judge.name], "pictures" if judge.pictures else "text")
            for judge in self._judges
        ]
        reason = next(filter(None, (route.broken(modality) for route, modality in uses)), None)
        if reason is None:
            return
        now = time.monotonic()
        if not any(route.is_healthy(modality) for route, modality in uses):
            self._all_broken_at = now
            raise OutageError(f"no judge can be asked: {reason}", _ALL_BROKEN_RETRY_SECONDS)
        if now - self._all_broken_at < _RECOVERY_SECONDS:
            # The routes recover one by one, when each is probed.
            raise OutageError("the judges are recovering", _ALL_BROKEN_RETRY_SECONDS)

    async def _audit(self, judge: Judge, case: Case, on_call: OnCall) -> Poll:
        """Votes for audits only; none if they are not available immediately."""
        route = self._routes[judge.name]
        of_votes = self._settings.votes * (route.stats.slowest_seconds() or 0.0)
        try:
            async with asyncio.timeout(min(max(AUDIT_SECONDS, of_votes), route.deadline())):
                return await self._poll(judge, case, on_call, retry=False)
        except TimeoutError:
            return Poll({})
        except ExceptionGroup as failures:
            failure = first_outage(failures)
            if not isinstance(failure, ModelError):
                raise failure from failures
            return Poll({})

    async def _poll(self, judge: Judge, case: Case, on_call: OnCall, *, retry: bool = True) -> Poll:
        """The votes of a briefed judge, counted.

        Raises:
            ExceptionGroup: Of ModelErrors; without `retry`, when the first call fails.
        """
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(self._vote(judge, vote, case, on_call, retry))
                for vote in range(self._settings.votes)
            ]
        return count(judge, [vote.result() for vote in asked])

    async def _vote(
        self, judge: Judge, vote: int, case: Case, on_call: OnCall, retry: bool
    ) -> Vote:
        prompt = prompts.messages(judge, case.evidence, case.strip, variant=vote)
        settings, room = self._settings, judge.context_tokens - prompts.tokens(prompt)
        tokens = settings.answer_tokens
        if tokens > room:
            return NoVote.OVER_BUDGET
        route, lost = self._routes[judge.name], NoVote.INVALID
        reason: UnreadableAnswerError | None = None
        for seed in (settings.seed + vote, settings.seed + vote + _REPAIR_SEED):
            request = verdict_request(
                judge, prompt, seed=seed, temperature=settings.temperature, max_tokens=tokens
            )
            call = JudgeCall(judge, route, vote, request, on_call)
            try:
                found = await call.complete(retry=retry, cached=True)
                verdict = read_answer(judge, found.answer.text)
                await call.record(found, verdict.rationale)
                route.count_vote(None)
                return verdict
            except BrokenRouteError as error:
                return NoVote(error.reason)
            except (RefusedError, FailedRequestError):
                return NoVote.REQUEST_FAILED
            except CutOffAnswerError as error:
                lost, reason = NoVote.CUT_OFF, error
                self._report(judge, error)
                if error.runs_away or 2 * tokens > room:
                    break  # the same request would be truncated again
                tokens *= 2
            except UnreadableAnswerError as error:
                lost, reason = NoVote.INVALID, error
            except InvalidReplyError:
                lost = NoVote.INVALID
        outage = route.count_vote(reason) if reason else None
        if isinstance(outage, BrokenRouteError):
            return NoVote(outage.reason)
        if outage is not None:
            raise outage
        return lost

    def _report(self, judge: Judge, error: CutOffAnswerError) -> None:
        """Log once per judge; metrics count the rest."""
        if judge.name not in self._reported:
            self._reported.add(judge.name)
            logger.warning("an answer of judge %s is %s", judge.name, error)

    def _result(
        self, case: Case, polls: list[Poll], excluded: Excluded, unread: tuple[str, ...]
    ) -> PanelResult:
        said = {name: found for poll in polls for name, found in poll.criteria.items()}
        ignored = frozenset[str]().union(*excluded.values())
        results: dict[str, CriterionScore | NoVote] = {}
        for name in (criterion.name for judge in self._judges for criterion in judge.criteria):
            known = case.decided.get(name)
            if known is not None:
                results[name] = known if isinstance(known, NoVote) else certain(known)
            elif name in ignored:
                results[name] = NoVote.DISTRUSTED
            else:
                results[name] = said.get(name, NoVote.DISTRUSTED)
        audits = {
            name: score
            for name, score in said.items()
            if name in case.decided and isinstance(score, CriterionScore)
        }
        heard = {n: found for n, found in said.items() if type(case.decided.get(n)) is not NoVote}
        unused = PROGRESS in case.decided or PROGRESS in ignored
        quests = [poll.quest for poll in polls if poll.quest and not unused]
        return PanelResult(results, audits, quests[0] if quests else None, unread, heard)


def judges_needed(
    judges: tuple[Judge, ...], decided: Mapping[str, int | NoVote], *, audit: bool
) -> tuple[Judge, ...]:
    """The judges that are asked, each with one of its two sets of criteria.

    An `audit` also asks the judges of decided levels for all of their criteria, to measure their
    accuracy. Criteria that do not apply to the segment cannot be audited.
    """
    computed = COMPUTED_WHOLLY & decided.keys()
    asked = []
    for judge in judges:
        names = {criterion.name for criterion in judge.criteria}
        core = without(judge, computed)
        if audit and any(type(decided.get(name)) is int for name in names):
            asked.append(judge)
        elif core and any(criterion.name not in decided for criterion in core.criteria):
            # Omit the computed criteria only if all of them are decided.
            asked.append(core if names & COMPUTED_WHOLLY <= computed else judge)
    return tuple(asked)


def in_share(purpose: str, segment_id: str, share: float) -> bool:
    """Whether a segment is in the share for a purpose; deterministic, by its id."""
    digest = hashlib.sha256(f"{purpose}:{segment_id}".encode()).digest()
    return int.from_bytes(digest[:4]) < share * 2**32


def count(judge: Judge, votes: Sequence[Vote]) -> Poll:
    """Count all requested votes of a briefed judge."""
    rated = {c.name: tally(_ballots(votes, c.name), judge=judge.name) for c in judge.rated}
    if not judge.tells_quest:
        return Poll(rated)
    ballots = _quest_ballots(votes)
    quest = tally_quest(ballots, judge=judge.name, objectives=judge.objectives)
    if isinstance(quest, NoVote):
        return Poll({PROGRESS: quest, **rated})
    return Poll({PROGRESS: progress_score(quest, ballots), **rated}, quest)


def _ballots(votes: Sequence[Vote], criterion: str) -> list[Ballot]:
    levels = [vote if isinstance(vote, NoVote) else vote.levels[criterion] for vote in votes]
    return [NoVote.INSUFFICIENT if level is None else level for level in levels]


def _quest_ballots(votes: Sequence[Vote]) -> list[QuestVote | NoVote]:
    return [
        vote if isinstance(vote, NoVote) else vote.quest or NoVote.INSUFFICIENT for vote in votes
    ]


def first_outage(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The outage that ended the round, or an error of another type, which is a bug."""
    _, others = failures.split(OutageError)
    failure: BaseException = others or failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
