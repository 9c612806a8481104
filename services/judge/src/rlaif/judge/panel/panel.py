"""The panel: asks the judges for their votes and counts them.

An outage of any route ends the whole round, so that no score is made of the judges that happened
to be there; a route that was out of use for too long is done without, and its criteria say so. An
answer that cannot be read is asked for once more with another seed, one that was cut off with twice
the tokens; after that it is no vote, unless the route gives no readable answers at all: then the
segment waits, and later is scored provisionally. What only an audit asks for is asked once and
never waited for.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from rlaif.contracts.evidence import Evidence
from rlaif.contracts.quest import QuestProgress
from rlaif.contracts.scores import CriterionScore, JudgeCallRecord
from rlaif.judge.panel import prompts
from rlaif.judge.panel.assignment import judges_needed
from rlaif.judge.panel.calls import CallLog, verdict_request
from rlaif.judge.panel.counting import Poll, Vote, count, enough
from rlaif.judge.panel.cut_off import CutOffAnswerError
from rlaif.judge.panel.schema import Verdict, read_answer
from rlaif.judge.routes.cache import AnswerCache
from rlaif.judge.routes.errors import BrokenRouteError, FailedRequestError
from rlaif.judge.routes.route import Route
from rlaif.judge.rubric.judges import PROGRESS, Judge, briefed
from rlaif.judge.rubric.votes import NoVote, certain
from rlaif.judge.settings import VoteSettings
from rlaif.llm.ports import (
    CompletionRequest,
    InvalidReplyError,
    Modality,
    ModelError,
    OutageError,
    RefusedError,
    UnreadableAnswerError,
)

logger = logging.getLogger(__name__)

OnCall = Callable[[JudgeCallRecord], Awaitable[None]]
"""Called with every call, the moment it is over."""

Distrusted = Mapping[str, frozenset[str]]

AUDIT_SECONDS = 30.0
"""For how long a score that is ready may wait for the audit of its segment."""

_UNREAD = (NoVote.ROUTE_UNREADABLE, NoVote.INVALID, NoVote.CUT_OFF)
"""No answer that could be read: the segment is scored again once."""
_REPAIR_SEED = 1000
_ALL_BROKEN_RETRY_SECONDS = 3.0
_RECOVERY_SECONDS = 40.0
"""After all routes were broken: how long they may take until the last is found well."""


@dataclass(frozen=True)
class Case:
    """What is judged.

    Attributes:
        evidence: What is known of one segment.
        strip: PNG of its frames with the path.
        decided: Criteria that need no judge, with their level or the reason for none.
        audit: Ask for these criteria nevertheless, and keep the votes apart.
    """

    evidence: Evidence
    strip: bytes | None = None
    decided: Mapping[str, int | NoVote] = field(default_factory=dict)
    audit: bool = False


@dataclass(frozen=True)
class PanelResult:
    """Every criterion of every judge, and what judges said of those that were decided already.

    Attributes:
        quest: Where the segment started and ended on the quest, when a judge could tell.
        distrusted: Judges that are missing from the score for now: they are excluded for a
            criterion, or their answers could not be read.
        heard: What the judges that were asked said, believed or not, where there was something
            to judge.
    """

    results: Mapping[str, CriterionScore | NoVote]
    audits: Mapping[str, CriterionScore] = field(default_factory=dict)
    quest: QuestProgress | None = None
    distrusted: tuple[str, ...] = ()
    heard: Mapping[str, CriterionScore | NoVote] = field(default_factory=dict)


class Panel:
    """The judges and their routes."""

    def __init__(
        self,
        judges: tuple[Judge, ...],
        routes: Mapping[str, Route],
        voting: VoteSettings,
        *,
        cache: AnswerCache | None = None,
        distrusted: Callable[[], Distrusted] = dict,
    ) -> None:
        """Ask `judges` by `routes`, which are by judge name.

        `distrusted` says judge → criteria on which its votes do not count now. A judge that has no
        other criterion left to answer is asked in audits only.
        """
        self._judges = judges
        self._routes = routes
        self._voting = voting
        self._cache = cache or AnswerCache(256)
        self._distrusted = distrusted
        self._all_broken_at = float("-inf")
        self._cut_off: set[str] = set()

    async def judge(self, case: Case, on_call: OnCall) -> PanelResult:
        """Ask for all votes and count them.

        Raises:
            OutageError: A route does not work, or none is in use; no other vote counts then.
        """
        distrusted, game = self._distrusted(), case.evidence.end.game
        required = judges_needed(self._judges, case.decided, audit=False)
        if required:
            self._require_a_route()
        needed = {
            judge.name
            for judge in required
            if _open_criteria(judge, case) - distrusted.get(judge.name, frozenset())
        }
        asked = [
            briefed(judge, game)
            for judge in judges_needed(self._judges, case.decided, audit=case.audit)
        ]
        # An audit also shows how a judge does that is not believed.
        audits = [
            asyncio.ensure_future(self._audit(judge, case, on_call))
            for judge in asked
            if case.audit and judge.name not in needed
        ]
        try:
            polls = await self._polls([j for j in asked if j.name in needed], case, on_call)
            for audit in audits:
                polls.append(await audit)
        finally:
            for audit in audits:
                audit.cancel()
            await asyncio.gather(*audits, return_exceptions=True)
        unread = {name for p in polls for name, found in p.criteria.items() if found in _UNREAD}
        silent = {
            judge.name
            for judge in required
            if _open_criteria(judge, case) & (distrusted.get(judge.name, frozenset()) | unread)
        }
        return self._result(case, polls, distrusted, tuple(sorted(silent)))

    def _require_a_route(self) -> None:
        """A score of nobody's word is no score: with no route left the segments wait.

        What breaks all routes is found with one after the other. Who is in trouble, and not for
        long enough to be given up, is no judge that is left.
        """
        uses: list[tuple[Route, Modality]] = [
            (self._routes[judge.name], "pictures" if judge.pictures else "text")
            for judge in self._judges
        ]
        why = next(filter(None, (route.broken(modality) for route, modality in uses)), None)
        if why is None:
            return
        now = time.monotonic()
        if not any(route.is_well(modality) for route, modality in uses):
            self._all_broken_at = now
            raise OutageError(f"no judge can be asked: {why}", _ALL_BROKEN_RETRY_SECONDS)
        if now - self._all_broken_at < _RECOVERY_SECONDS:
            # They get well one after the other, as each is looked at.
            raise OutageError("the judges are coming back", _ALL_BROKEN_RETRY_SECONDS)

    async def _polls(self, judges: list[Judge], case: Case, on_call: OnCall) -> list[Poll]:
        try:
            async with asyncio.TaskGroup() as group:
                polls = [group.create_task(self._poll(judge, case, on_call)) for judge in judges]
        except ExceptionGroup as failures:
            raise first_outage(failures) from failures
        return [poll.result() for poll in polls]

    async def _audit(self, judge: Judge, case: Case, on_call: OnCall) -> Poll:
        """Votes that no score needs: what can be had without waiting, else none."""
        seconds = min(AUDIT_SECONDS, self._routes[judge.name].deadline())
        try:
            async with asyncio.timeout(seconds):
                return await self._poll(judge, case, on_call, once=True)
        except TimeoutError:
            return Poll({})
        except ExceptionGroup as failures:
            failure = first_outage(failures)
            if not isinstance(failure, ModelError):
                raise failure from failures
            return Poll({})

    def _result(
        self, case: Case, polls: list[Poll], distrusted: Distrusted, silent: tuple[str, ...]
    ) -> PanelResult:
        said = {name: found for poll in polls for name, found in poll.criteria.items()}
        unheard = frozenset[str]().union(*distrusted.values())
        voted = {name: found for name, found in said.items() if name not in unheard}
        results: dict[str, CriterionScore | NoVote] = {}
        for judge in self._judges:
            for criterion in judge.criteria:
                name = criterion.name
                known = case.decided.get(name)
                if known is None:
                    results[name] = voted.get(name, NoVote.DISTRUSTED)
                else:
                    results[name] = known if isinstance(known, NoVote) else certain(known)
        audits = {
            name: score
            for name, score in said.items()
            if name in case.decided and isinstance(score, CriterionScore)
        }
        heard = {n: found for n, found in said.items() if type(case.decided.get(n)) is not NoVote}
        taken = PROGRESS.name in case.decided or PROGRESS.name in unheard
        quests = [] if taken else [poll.quest for poll in polls if poll.quest]
        return PanelResult(results, audits, quests[0] if quests else None, silent, heard)

    async def _poll(self, judge: Judge, case: Case, on_call: OnCall, *, once: bool = False) -> Poll:
        most, votes = self._voting.votes, list[Vote]()
        while len(votes) < most:
            # Two at once, then one at a time, when two that agree are enough.
            more = min(1 if votes else 2, most - len(votes)) if self._voting.adaptive else most
            wave = range(len(votes), len(votes) + more)
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(self._vote(judge, v, case, on_call, once)) for v in wave]
            votes += [vote.result() for vote in asked]
            if enough(judge, votes, most):
                break
        return count(judge, votes)

    async def _vote(self, judge: Judge, vote: int, case: Case, on_call: OnCall, once: bool) -> Vote:
        """One vote: at most one answer and one repair."""
        prompt = prompts.messages(judge, case.evidence, case.strip, variant=vote)
        tokens, room = self._voting.answer_tokens, judge.context_tokens - prompts.tokens(prompt)
        if tokens > room:
            return NoVote.OVER_BUDGET
        route, lost = self._routes[judge.name], NoVote.INVALID
        why: UnreadableAnswerError | None = None
        for seed in (self._voting.seed + vote, self._voting.seed + vote + _REPAIR_SEED):
            request = verdict_request(
                judge, prompt, seed=seed, temperature=self._voting.temperature, max_tokens=tokens
            )
            log = CallLog(judge, route, vote, request, on_call)
            try:
                verdict = await self._ask(judge, request, log, once)
                route.voted(None)
                return verdict
            except BrokenRouteError as error:
                return NoVote(error.reason)
            except (RefusedError, FailedRequestError):
                return NoVote.REQUEST_FAILED
            except CutOffAnswerError as error:
                lost, why = NoVote.CUT_OFF, error
                self._tell_of_cut_off(judge, error)
                if error.runs_away or 2 * tokens > room:
                    break  # the same question would be cut off again
                tokens *= 2
            except UnreadableAnswerError as error:
                lost, why = NoVote.INVALID, error
            except InvalidReplyError:
                lost = NoVote.INVALID
        blamed = route.voted(why) if why else None
        if isinstance(blamed, BrokenRouteError):
            return NoVote(blamed.reason)
        if blamed is not None:
            raise blamed
        return lost

    def _tell_of_cut_off(self, judge: Judge, error: CutOffAnswerError) -> None:
        """Log it once a judge; metrics count the rest."""
        if judge.name not in self._cut_off:
            self._cut_off.add(judge.name)
            logger.warning("an answer of judge %s is %s", judge.name, error)

    async def _ask(
        self, judge: Judge, request: CompletionRequest, log: CallLog, once: bool
    ) -> Verdict:
        answer, seconds, use = await self._cache.answer(
            log.key, lambda: log.route.complete(request, on_failure=log.failed, once=once)
        )
        verdict = read_answer(judge, answer.text)
        self._cache.keep(log.key, answer)
        await log.write("ok", seconds, answer=answer, rationale=verdict.rationale, use=use)
        return verdict


def _open_criteria(judge: Judge, case: Case) -> frozenset[str]:
    """Criteria of a judge that nothing has decided."""
    return frozenset(c.name for c in judge.criteria if c.name not in case.decided)


def first_outage(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The outage that ended the round; a failure of another kind is a bug and comes first."""
    _, others = failures.split(OutageError)
    failure: BaseException = others or failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
