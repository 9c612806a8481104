"""Suggestions of a language model: when they are requested, how long they count, their bonus."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Suggestion
from rlaif.game.machine.actions import Action
from rlaif.testing.planner.scripted_planner import ScriptedPlanner
from rlaif.trainer.play.assist.figures import AssistanceFigures
from rlaif.trainer.play.assist.guidance import REJECTED_REST, Guidance, guidance_stream
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.run_folder.npz_tree import read, write
from rlaif.trainer.settings.planner import GuidanceSettings

ALWAYS = GuidanceSettings(text_chance=1, vision_chance=0, rest_steps=0, most_waiting=None)
"""Reads, and is asked whenever that is allowed."""

TEXT, VISION = ALWAYS.text_bonus, ALWAYS.vision_bonus
SCREEN = np.zeros((144, 160, 3), dtype=np.uint8)
NO_PROGRESS = Progress(0, 0, 0, b"", 0)


def at(x: int = 80, y: int = 64, *, room: int = 0x65, group: int = 0, **flags: bool) -> GameFacts:
    """A moment at rest at a pixel of a room."""
    usual = {"running": True, "settled": True, "control": True}
    others = {"menu": False, "text": False, "dead": False}
    return GameFacts(
        group=group, room=room, x=x, y=y, health=12, progress=NO_PROGRESS,
        **(usual | others | flags),
    )  # fmt: skip


def suggest(button: str) -> Any:
    return lambda question: Suggestion(reason="because", button=button)


class Games:
    """N games that a test plays by hand, guided by a planner that it answers for.

    Attributes:
        steps: Decision steps of the running episode, by environment.
    """

    def __init__(
        self, settings: GuidanceSettings = ALWAYS, *, count: int = 1, script: Any = None, **how: Any
    ) -> None:
        self.planner = ScriptedPlanner(script or suggest("UP"), **how)
        self.guidance = Guidance(
            settings, count=count, rng=guidance_stream([7, 0, 0]), planner=self.planner
        )
        self.facts = [at()] * count
        self.steps = [0] * count

    def step(self, *actions: int | None, to: GameFacts | None = None) -> list[float]:
        """One step of each game, `None` for one that a planner plays; gives what each is paid."""
        taken_over = [n for n, action in enumerate(actions) if action is None]
        paid = [
            0.0 if action is None else self.guidance.choose(n, action, self.facts[n], self.steps[n])
            for n, action in enumerate(actions)
        ]
        self.guidance.draw(taken_over)
        for n in range(len(actions)):
            self.steps[n] += 1
            self.facts[n] = to or self.facts[n]
            self.guidance.ask(n, self.facts[n], self.steps[n], Briefing, lambda: SCREEN)
        return paid

    def answer(self) -> None:
        """Everything that was asked is answered."""
        self.planner.answer()
        for reply in self.planner.replies():
            self.guidance.hear(reply)

    def end_episode(self, n: int = 0) -> None:
        self.guidance.begin_episode(n)
        self.steps[n], self.facts[n] = 0, at()

    def reported(self) -> AssistanceFigures:
        """The figures since the last report."""
        account, self.guidance.account = self.guidance.account, AssistanceFigures()
        return account

    def kept(self, n: int = 0) -> dict[str, Any] | None:
        """The latest suggestion of environment `n` in this episode."""
        suggestion: dict[str, Any] | None = self.guidance.state_dict()["kept"][n]
        return suggestion

    def paid(self, n: int = 0) -> float:
        """Bonuses of environment `n` in this episode."""
        return float(self.guidance.state_dict()["paid"][n])

    def fates(self) -> dict[str, int]:
        """How the suggestions of the first route that gave any ended."""
        (fates,) = self.reported().suggestions.values()
        return {fate: times for fate, times in fates.items() if fate != "given"}


def asked_once(**changes: Any) -> Games:
    """A game that has just got the suggestion UP, at step 1, and asks no more."""
    rests = ALWAYS.model_copy(update={"rest_steps": 1_000_000, **changes})
    games = Games(rests)
    games.step(Action.NOP)
    games.answer()
    assert games.kept() is not None
    return games


def test_it_may_be_compared_with_more_decisions_until_one_follows_it():
    games = asked_once(decisions=3)
    assert games.step(Action.LEFT) == [0.0]
    assert games.step(Action.UP) == [pytest.approx(TEXT)]
    assert games.step(Action.UP) == [0.0], "though a third decision is left"
    declined = asked_once(decisions=3)
    for _ in range(3):
        declined.step(Action.LEFT)
    assert declined.step(Action.UP) == [0.0]
    assert (games.fates(), declined.fates()) == ({"followed": 1}, {"declined": 1})


@pytest.mark.parametrize(("x", "y", "near"), [(96, 64, True), (64, 80, True), (97, 64, False)])
def test_it_counts_near_the_spot_that_it_was_asked_for_and_waits_elsewhere(
    x: int, y: int, near: bool
):
    games = asked_once(reach_tiles=1)
    games.facts[0] = at(x, y)
    assert games.step(Action.UP) == [pytest.approx(TEXT if near else 0.0)]
    games.facts[0] = at()
    assert games.step(Action.UP) == [pytest.approx(0.0 if near else TEXT)]


@pytest.mark.parametrize(
    "flags", [{"text": True}, {"menu": True}, {"room": 0x66, "settled": False}]
)
def test_a_button_for_the_walk_waits_while_a_text_a_menu_or_a_scroll_lasts(flags: dict[str, Any]):
    games = asked_once()
    games.facts[0] = at(**flags)
    assert games.step(Action.UP) == [0.0]
    games.facts[0] = at()
    assert games.step(Action.UP) == [pytest.approx(TEXT)]


def test_a_late_answer_does_not_stand_for_the_newer_question():
    games = Games(
        script=lambda question: Suggestion(reason="", button=["A", "B"][question.asked_step > 1])
    )
    games.step(Action.NOP)
    games.guidance.drop(0)
    games.step(Action.NOP)
    old, new = games.planner.asked
    games.planner.answer(1)
    (late,) = games.planner.replies()
    assert late.question is old
    games.guidance.hear(late)
    assert games.kept() is None
    games.answer()
    kept = games.kept()
    assert kept is not None
    assert (kept["button"], kept["asked_step"]) == (Action.B, new.asked_step)


def test_a_takeover_drops_what_was_suggested_and_what_was_asked():
    kept, waiting = asked_once(), Games()
    kept.guidance.drop(0)
    waiting.step(Action.NOP)
    waiting.guidance.drop(0)
    waiting.answer()
    assert kept.step(Action.UP) == waiting.step(Action.UP) == [0.0]


def test_an_environment_sends_no_request_while_it_waits_and_pauses_afterwards():
    games = Games(ALWAYS.model_copy(update={"rest_steps": 10}))
    for _ in range(30):
        games.step(Action.NOP)
    assert [question.asked_step for question in games.planner.asked] == [1]
    games.answer()
    for _ in range(20):
        games.step(Action.NOP)
        games.answer()
    assert [question.asked_step for question in games.planner.asked] == [1, 31, 41]


def test_a_planner_that_takes_no_more_is_left_alone_for_a_while():
    games = Games(count=4, most_in_flight=1)
    described = Counter[int]()

    def evidence() -> Briefing:
        described[games.steps[0]] += 1
        return Briefing()

    for _ in range(2 * REJECTED_REST):
        games.guidance.draw()
        games.steps[0] += 1
        for n in range(4):
            games.guidance.ask(n, at(), games.steps[0], evidence, lambda: SCREEN)
    assert len(games.planner.asked) == 1
    assert described == {1: 1}, "what is refused is not described before"
    assert games.planner.counts().by_mode["dialog"].not_asked == {"busy": 2}, "one try a rest"
    games.answer()
    games.step(*[Action.NOP] * 4)
    assert len(games.planner.asked) == 2, "an answer ends the rest"


def test_so_many_questions_of_a_runner_wait_at_a_time():
    games = Games(ALWAYS.model_copy(update={"most_waiting": 2}), count=5)
    for _ in range(3):
        games.step(*[Action.NOP] * 5)
        assert len(games.planner.waiting) == 2
        games.end_episode(0)
        assert games.step(*[Action.NOP] * 5) == [0.0] * 5
        assert len(games.planner.waiting) == 2, "one whose episode is over is still under way"
        games.answer()


def test_what_is_not_entered_yet_and_who_dies_is_not_asked_about():
    games = Games()
    games.step(Action.NOP, to=at(settled=False))
    games.step(Action.NOP, to=at(dead=True))
    assert games.planner.asked == []


def test_an_episode_whose_limit_is_reached_asks_no_more():
    games = Games(ALWAYS.model_copy(update={"most_an_episode": 0.05}))
    for _ in range(20):
        games.step(Action.UP)
        games.answer()
    assert games.paid() == pytest.approx(2 * TEXT)
    assert len(games.planner.asked) == 2
    games.end_episode()
    games.step(Action.UP)
    assert len(games.planner.asked) == 3, "the next episode has an allowance of its own"


def test_the_question_says_for_whom_when_and_what_is_seen():
    looks = Games(ALWAYS.model_copy(update={"text_chance": 0, "vision_chance": 1}), count=2)
    looks.step(Action.NOP, Action.NOP)
    reads = Games()
    reads.step(Action.NOP)
    (question,) = reads.planner.asked
    assert (question.mode, question.kind, question.picture) == ("dialog", "suggestion", None)
    first, second = looks.planner.asked
    assert (first.mode, first.env, second.env, first.asked_step) == ("vision", 0, 1, 1)
    assert first.picture is not None
    assert first.situation == second.situation != question.situation


def test_by_default_a_step_asks_with_the_seeds_chances():
    guidance = Guidance(
        GuidanceSettings(),
        count=1000,
        rng=guidance_stream([1, 0, 0]),
        planner=ScriptedPlanner(suggest("UP")),
    )
    found = Counter[str]()
    for _ in range(200):
        guidance.draw()
        found.update(guidance.drawn.values())
    # 200,000 steps: four standard deviations are 0.0013 and 0.0015.
    assert found["dialog"] / 200_000 == pytest.approx(0.02, abs=0.0013)
    assert found["vision"] / 200_000 == pytest.approx(0.03, abs=0.0015)


def test_what_was_suggested_and_what_became_of_it_is_reported_once():
    games = asked_once()
    games.step(Action.UP)
    reported = games.reported()
    assert reported.suggestions == {"dialog": {"given": 1, "followed": 1}}
    assert reported.bonus == {"dialog": pytest.approx(TEXT)}
    (event,) = reported.events
    assert (event.kind, event.mode, event.env, event.step) == ("suggestion", "dialog", "0-0", 1)
    assert (event.wanted, event.reason, event.followed) == (("UP",), "because", True)
    assert (event.call, event.ending, event.latency_seconds) == ("ok", "followed", 0.5)
    assert games.reported() == AssistanceFigures()


def test_each_suggestion_that_came_has_one_end():
    games = Games(count=2)
    for number in range(40):
        games.step(*[Action.UP if number % 3 else Action.LEFT] * 2)
        if number % 5 == 0:
            games.guidance.drop(1)
        games.answer()
    games.end_episode(0)
    games.end_episode(1)
    (fates,) = games.reported().suggestions.values()
    assert fates["given"] == sum(fates.values()) - fates["given"] > 40
    assert {"followed", "declined", "left"} < set(fates)


def test_a_call_without_a_usable_answer_is_reported_with_its_reason():
    games = Games(script=lambda question: "timeout")
    games.step(Action.NOP)
    games.answer()
    reported = games.reported()
    (event,) = reported.events
    assert (event.call, event.followed, event.wanted) == ("timeout", None, ())
    assert event.ending_reason == "scripted"
    assert reported.suggestions == {}


def test_few_events_are_reported_so_that_plans_have_room():
    games = Games()
    for _ in range(50):
        games.step(Action.UP)
        games.answer()
    reported = games.reported()
    assert len(reported.events) == 8
    assert reported.suggestions["dialog"]["followed"] > 40


def test_one_number_is_drawn_per_environment_and_step_whatever_the_games_do():
    busy, stream = Games(count=3), guidance_stream([7, 0, 0])
    for number in range(50):
        stream.random(3)
        busy.step(None if number % 3 else Action.UP, Action.UP, None)
        busy.answer()
    assert busy.guidance.state_dict()["rng"] == stream.bit_generator.state


def test_it_resumes_in_the_middle_of_episodes(tmp_path: Path):
    settings = GuidanceSettings(
        text_chance=0.3, vision_chance=0.3, rest_steps=3, decisions=4, most_an_episode=0.2
    )

    def play(games: Games, steps: int) -> list[list[float]]:
        paid = []
        for _ in range(steps):
            paid.append(games.step(Action.UP, Action.LEFT))
            games.answer()
        return paid

    whole, first, second = (Games(settings, count=2) for _ in range(3))
    play(whole, 17)
    play(first, 17)
    kept = first.kept(1)
    assert kept is not None
    write(tmp_path / "games.npz", first.guidance.state_dict())
    second.guidance.load_state_dict(read(tmp_path / "games.npz"))
    second.steps, second.facts = list(first.steps), list(first.facts)
    assert second.kept(1) == kept
    assert play(second, 60) == play(whole, 60)
    assert second.paid() == whole.paid() > 0


# A hypothesis: for each step and environment, the player, action, place and received replies.
PLACES = [at(), at(x=90), at(x=140), at(room=0x66), at(group=3), at(text=True), at(settled=False)]
MOVES = st.tuples(
    st.sampled_from([None, *range(8)]),  # None: a planner plays
    st.integers(0, len(PLACES) - 1),
    st.sampled_from(["play", "play", "play", "end"]),
)
BUTTONS = [action.name for action in Action]


class Audit:
    """Traces payments back to the questions that allowed them.

    Attributes:
        paid: Sum of each running episode.
    """

    def __init__(self, games: Games, expiry: int) -> None:
        self._games, self._expiry = games, expiry
        self._episode = [0] * 3
        self._origins: list[tuple[PlannerQuestion, int, GameFacts]] = []
        self._used: set[tuple[int, int, int]] = set()
        self.paid = [0.0] * 3

    def note_questions(self) -> None:
        for question in self._games.planner.asked[len(self._origins) :]:
            n = question.env
            self._origins.append((question, self._episode[n], self._games.facts[n]))

    def check(
        self, n: int, amount: float, action: int, facts: GameFacts, kept: dict[str, Any] | None
    ) -> None:
        """The policy chose `action` at `facts` with `kept` in mind, and was paid."""
        assert kept is not None
        assert action == kept["button"]
        asked_step = kept["asked_step"]
        assert (n, self._episode[n], asked_step) not in self._used, "paid twice"
        self._used.add((n, self._episode[n], asked_step))
        assert 0 <= self._games.steps[n] - 1 - asked_step <= self._expiry
        (there,) = [
            there
            for question, episode, there in self._origins
            if (question.env, question.asked_step) == (n, asked_step)
            and episode == self._episode[n]
        ]
        assert (there.group, there.room, there.text) == (facts.group, facts.room, facts.text)
        assert max(abs(there.x - facts.x), abs(there.y - facts.y)) <= 16
        self.paid[n] += amount

    def end_episode(self, n: int) -> None:
        self._games.end_episode(n)
        self._episode[n] += 1
        self.paid[n] = 0.0


@given(data=st.data())
def test_whatever_is_played_only_a_suggestion_for_that_very_place_is_paid(data: st.DataObject):
    """Not one of another environment or episode, nor an old one, nor one from another room."""
    expiry, most = data.draw(st.integers(1, 8)), data.draw(st.floats(0.01, 0.1))
    settings = GuidanceSettings(
        text_chance=0.5,
        vision_chance=0,
        rest_steps=data.draw(st.integers(0, 3)),
        most_waiting=data.draw(st.sampled_from([1, 3, None])),
        decisions=data.draw(st.integers(1, 3)),
        expiry_steps=expiry,
        most_an_episode=most,
    )
    buttons = data.draw(st.lists(st.sampled_from(BUTTONS), min_size=1, max_size=5))
    games = Games(
        settings,
        count=3,
        script=lambda question: Suggestion(
            reason="", button=buttons[question.asked_step % len(buttons)]
        ),
    )
    audit = Audit(games, expiry)
    for moves in data.draw(st.lists(st.tuples(MOVES, MOVES, MOVES), max_size=25)):
        for n, (action, place, _) in enumerate(moves):
            games.facts[n] = PLACES[place]
            if action is None:
                games.guidance.drop(n)
        facts, kept = list(games.facts), [games.kept(n) for n in range(3)]
        paid = games.step(*[action for action, _, _ in moves])
        audit.note_questions()
        for n, (action, _, _) in enumerate(moves):
            if paid[n]:
                audit.check(n, paid[n], action, facts[n], kept[n])
        assert all(each <= most for each in audit.paid)
        now = [games.kept(n) for n in range(3)]
        counts = {n for n, each in enumerate(now) if each is not None and each["fate"] is None}
        assert games.guidance.open == counts
        if data.draw(st.booleans()):
            games.answer()
        for n, (_, _, then) in enumerate(moves):
            if then == "end":
                audit.end_episode(n)


@given(st.lists(st.tuples(MOVES, MOVES), max_size=30), st.lists(st.booleans(), max_size=30))
def test_what_another_environment_does_changes_nothing_here(moves: list[Any], answers: list[bool]):
    """The same game beside a busy one and beside one that stands still."""

    def played(beside: bool) -> list[float]:
        games = Games(ALWAYS.model_copy(update={"text_chance": 0.5, "rest_steps": 2}), count=2)
        paid = []
        for number, (own, other) in enumerate(moves):
            games.facts = [PLACES[own[1]], PLACES[other[1]] if beside else at()]
            paid.append(games.step(own[0], other[0] if beside else None)[0])
            if number < len(answers) and answers[number]:
                games.answer()
            if own[2] == "end":
                games.end_episode(0)
            if beside and other[2] == "end":
                games.end_episode(1)
        return paid

    assert played(beside=True) == played(beside=False)
