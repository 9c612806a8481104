"""Asks one judge for its votes on a segment.

An answer that cannot be parsed is requested once more with another seed, one that was cut off with
twice the tokens; after that the vote is lost. If nearly all answers of the route cannot be parsed,
the vote ends in the outage of the route instead.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from rlaif.contracts.judging.evidence import Evidence
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import JudgeCall, OnCall, verdict_request
from rlaif.judge.panel.counting import Poll, Vote, count, enough
from rlaif.judge.panel.schema import CutOffAnswerError, Verdict, read_answer
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.settings import VoteSettings
from rlaif.llm.ports import (
    BrokenRouteError,
    FailedRequestError,
    InvalidReplyError,
    RefusedError,
    UnreadableAnswerError,
)
from rlaif.llm.route import Route

logger = logging.getLogger(__name__)

_REPAIR_SEED = 1000


@dataclass(frozen=True)
class Case:
    """What is judged.

    Attributes:
        evidence: Facts about one segment.
        strip: PNG of its pictures with the player's path.
        decided: Criteria that need no judge, with their level or the reason for none.
        audit: Ask for these criteria as well, and keep the votes apart.
    """

    evidence: Evidence
    strip: bytes | None = None
    decided: Mapping[str, int | NoVote] = field(default_factory=dict)
    audit: bool = False


class Voting:
    """Collects votes."""

    def __init__(self, routes: Mapping[str, Route], settings: VoteSettings) -> None:
        """`routes` are by name of the judge."""
        self._routes = routes
        self._settings = settings
        self._reported: set[str] = set()

    async def poll(self, judge: Judge, case: Case, on_call: OnCall, *, retry: bool = True) -> Poll:
        """The votes of a briefed judge, counted.

        Raises:
            ExceptionGroup: Of ModelErrors; without `retry` as soon as a call fails.
        """
        limit, votes = self._settings.votes, list[Vote]()
        while len(votes) < limit:
            more = limit
            if self._settings.adaptive:
                # Two at once, then one at a time: two votes that agree are enough.
                more = min(1 if votes else 2, limit - len(votes))
            wave = range(len(votes), len(votes) + more)
            async with asyncio.TaskGroup() as group:
                asked = [
                    group.create_task(self._vote(judge, vote, case, on_call, retry))
                    for vote in wave
                ]
            votes += [vote.result() for vote in asked]
            if enough(judge, votes, limit):
                break
        return count(judge, votes)

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
            try:
                verdict = await _ask(JudgeCall(judge, route, vote, request, on_call), retry)
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
                    break  # the same question would be cut off again
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


async def _ask(call: JudgeCall, retry: bool) -> Verdict:
    found = await call.complete(retry=retry, cached=True)
    verdict = read_answer(call.judge, found.answer.text)
    await call.record(found, verdict.rationale)
    return verdict
