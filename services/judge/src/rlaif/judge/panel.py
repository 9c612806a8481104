"""The panel: asks every judge for its votes at once and counts them.

An outage of any route ends the whole round, so that no score is made of the judges that happened
to be there. An answer that cannot be read is asked for once more with another seed; after that it
is no vote.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rlaif.contracts.scores import CriterionScore, JudgeCallRecord
from rlaif.judge import prompts
from rlaif.judge.judges import Judge
from rlaif.judge.ports import (
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    ModelError,
    OutageError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.judge.routes import Route
from rlaif.judge.schema import InvalidAnswerError, Verdict, answer_schema, read_answer
from rlaif.judge.votes import Ballot, NoVote, tally

CallHook = Callable[[JudgeCallRecord], Awaitable[None]]
"""Told of every call, the moment it is over."""

_REPAIR_SEED = 1000
_DETAIL_CHARACTERS = 300


@dataclass(frozen=True)
class VotePolicy:
    """How votes are asked for.

    Attributes:
        votes: Votes a judge. More: steadier medians, as many times the calls.
        temperature: Sampling temperature; with 0 the votes differ by wording only.
        seed: Base of the sampling seeds.
        max_tokens: Longest answer.
    """

    votes: int = 3
    temperature: float = 0.4
    seed: int = 0
    max_tokens: int = 256


@dataclass(frozen=True)
class Case:
    """What is judged: the evidence of one segment and its pictures in time order."""

    facts: Mapping[str, object]
    pictures: Sequence[bytes]


class Panel:
    """The judges and their routes."""

    def __init__(
        self, judges: tuple[Judge, ...], routes: Mapping[str, Route], policy: VotePolicy
    ) -> None:
        """Ask `judges`; `routes` has one route for each judge's name."""
        self._judges = judges
        self._routes = routes
        self._policy = policy

    def resting(self) -> float:
        """Seconds until every route may be called; 0 when they may be now."""
        return max((route.resting for route in self._routes.values()), default=0.0)

    async def judge(self, case: Case, called: CallHook) -> dict[str, CriterionScore | NoVote]:
        """Ask for all votes and count them.

        Returns:
            Criterion → score, or why there is none.

        Raises:
            OutageError: A route does not work; nothing may be concluded from the others.
        """
        rest = self.resting()
        if rest:
            raise UnavailableError("a judge's route rests after failures in a row", rest)
        asked = [(judge, vote) for judge in self._judges for vote in range(self._policy.votes)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._vote(judge, vote, case, called))
                    for judge, vote in asked
                ]
        except ExceptionGroup as failures:
            raise _first_outage(failures) from failures
        ballots: dict[str, list[Ballot]] = {}
        for task in tasks:
            for criterion, ballot in task.result().items():
                ballots.setdefault(criterion, []).append(ballot)
        return {
            criterion.name: tally(ballots[criterion.name], judge=judge.name)
            for judge in self._judges
            for criterion in judge.criteria
        }

    async def _vote(
        self, judge: Judge, vote: int, case: Case, called: CallHook
    ) -> dict[str, Ballot]:
        """One vote: at most one answer and one repair."""
        prompt = prompts.messages(judge, case.facts, case.pictures, variant=vote)
        for repair in (False, True):
            seed = self._policy.seed + vote + (_REPAIR_SEED if repair else 0)
            log = _CallLog(
                judge, self._routes[judge.name], vote, seed, prompts.digest(prompt), called
            )
            try:
                verdict = await self._ask(judge, prompt, log)
            except RefusedError:
                return _no_vote(judge, NoVote.UNAVAILABLE)
            except (InvalidAnswerError, InvalidReplyError):
                continue
            return _ballots(verdict)
        return _no_vote(judge, NoVote.INVALID)

    async def _ask(
        self, judge: Judge, prompt: tuple[prompts.Message, ...], log: "_CallLog"
    ) -> Verdict:
        request = CompletionRequest(
            model=judge.model,
            messages=prompt,
            schema_name=f"{judge.name}_verdict",
            schema=answer_schema(judge),
            seed=log.seed,
            temperature=self._policy.temperature,
            max_tokens=self._policy.max_tokens,
        )
        answer, seconds = await log.route.complete(request, failed=log.failed)
        try:
            verdict = read_answer(judge, answer.text)
        except InvalidAnswerError as error:
            await log.write("invalid", seconds, detail=str(error))
            raise
        await log.write("ok", seconds, rationale=verdict.rationale)
        return verdict


@dataclass(frozen=True)
class _CallLog:
    """Writes the record of each call of one vote."""

    judge: Judge
    route: Route
    vote: int
    seed: int
    prompt_sha256: str
    called: CallHook

    async def failed(self, error: ModelError, seconds: float) -> None:
        await self.write(_outcome(error), seconds, detail=str(error))

    async def write(
        self,
        outcome: Literal["ok", "invalid", "throttled", "error", "timeout"],
        seconds: float,
        *,
        rationale: str | None = None,
        detail: str | None = None,
    ) -> None:
        record = JudgeCallRecord(
            judge=self.judge.name,
            route=self.route.name,
            model=self.judge.model,
            vote=self.vote,
            seed=self.seed,
            prompt_sha256=self.prompt_sha256,
            outcome=outcome,
            latency_seconds=max(0.0, seconds),
            rationale=rationale,
            detail=detail[:_DETAIL_CHARACTERS] if detail else None,
        )
        await self.called(record)


def _outcome(error: ModelError) -> Literal["invalid", "throttled", "error", "timeout"]:
    if isinstance(error, ThrottledError):
        return "throttled"
    if isinstance(error, CallTimeoutError):
        return "timeout"
    return "invalid" if isinstance(error, InvalidReplyError) else "error"


def _ballots(verdict: Verdict) -> dict[str, Ballot]:
    return {
        name: NoVote.INSUFFICIENT if level is None else level
        for name, level in verdict.levels.items()
    }


def _no_vote(judge: Judge, reason: NoVote) -> dict[str, Ballot]:
    return {criterion.name: reason for criterion in judge.criteria}


def _first_outage(failures: ExceptionGroup[Exception]) -> Exception:
    """The outage that ended the round; a failure of another kind is a bug and comes first."""
    for failure in failures.exceptions:
        if not isinstance(failure, OutageError):
            return failure
    return failures.exceptions[0]
