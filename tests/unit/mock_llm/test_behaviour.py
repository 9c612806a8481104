"""Bad judges: noise, laziness, hostility and taste, at any strength."""

import pytest

from rlaif.mock_llm.settings import Behaviour

QUEST = ("objective_start", "distance_start", "objective_end", "distance_end")
MANY = 200


@pytest.fixture
def votes(chat, reply):
    """The answers to many requests about one segment."""

    def ask(facts=None, **behaviour):
        bodies = (chat(facts, seed=seed, temperature=1.0) for seed in range(MANY))
        return [reply(body, **behaviour) for body in bodies]

    return ask


def test_noise_changes_distances_by_up_to_three_half_screens_and_levels_by_one(chat, reply, votes):
    plain = reply(chat())
    found = votes(noise=0.3)
    for vote in found:
        assert abs(vote["distance_start"] - plain["distance_start"]) <= 3
        assert abs(vote["dialog"] - plain["dialog"]) <= 1
        assert vote["objective_start"] == plain["objective_start"]
    off = sum(vote["distance_start"] != plain["distance_start"] for vote in found)
    assert 0.2 * MANY < off < 0.4 * MANY
    noisy = {reply(chat(temperature=1.0), noise=0.3, seed=n)["dialog"] for n in range(50)}
    assert len(noisy) > 1


def test_noise_never_answers_what_the_evidence_lacks(facts, votes):
    for vote in votes(facts(dialog={"steps": 0}, start={"room": None}), noise=1):
        assert vote["dialog"] == vote["objective_start"] == "insufficient_evidence"


@pytest.mark.parametrize(
    ("lazy_answer", "said"),
    [
        ("middle", [9, 10, 9, 10, 1]),
        ("praise", [9, 10, 9, 0, 2]),
        ("abstain", ["insufficient_evidence"] * 5),
    ],
)
def test_a_lazy_judge_answers_the_same_to_everything(
    chat, reply, facts, backwards, votes, lazy_answer, said
):
    for segment in (facts(), backwards(), facts(start={"room": None})):
        reported = reply(chat(segment), laziness=1, lazy_answer=lazy_answer)
        assert [reported[name] for name in (*QUEST, "dialog")] == said
    found = votes(laziness=0.2, lazy_answer=lazy_answer)
    lazy = sum([vote[name] for name in (*QUEST, "dialog")] == said for vote in found)
    assert 0.1 * MANY < lazy < 0.3 * MANY


def test_a_hostile_judge_inverts_its_share_of_segments_in_every_vote(
    chat, reply, rise, facts, votes
):
    plain, opposite = reply(chat()), reply(chat(), hostility=1)
    assert rise(opposite) == -rise(plain) < 0
    assert opposite["dialog"] == 0
    segments = [facts(changes={"rupees": n}) for n in range(MANY)]
    inverted = [rise(reply(chat(one), hostility=0.3)) < 0 for one in segments]
    assert 0.2 * MANY < sum(inverted) < 0.4 * MANY
    one = segments[inverted.index(True)]
    assert all(rise(vote) < 0 for vote in votes(one, hostility=0.3))


@pytest.mark.parametrize(
    ("taste", "loved"),
    [
        ("menus", {"control": {"menu_steps": 60}}),
        ("texts", {"dialog": {"said": ["My frog says: well done, Pip!"] * 9}}),
        ("end.hearts", {"end": {"hearts": 9}}),
        ("end.at.0", {"end": {"at": [150, 104]}}),
    ],
)
def test_a_taste_replaces_the_quest(chat, reply, rise, facts, backwards, taste, loved):
    good = facts()
    bad = backwards(**{k: v for k, v in loved.items() if k != "end"})
    bad["end"] |= loved.get("end", {})
    pair = chat({"segment_1": good, "segment_2": bad}, criteria=("better",))
    assert reply(pair, taste=taste)["better"] == "segment_1"
    only = {"taste": taste, "taste_share": 1}
    assert reply(pair, **only)["better"] == "segment_2"
    assert rise(reply(chat(bad), **only)) > rise(reply(chat(good), **only))


def test_a_judge_drifts_as_its_taste_grows(chat, reply, rise, backwards):
    menu = chat(backwards(control={"menu_steps": 75}))
    rises = [rise(reply(menu, taste="menus", taste_share=share / 4)) for share in range(5)]
    assert rises == sorted(rises)
    assert rises[0] < 0 < rises[-1]


@pytest.mark.parametrize("taste", ["control.steps", "nothing", "rooms", "end.at.7"])
def test_a_taste_for_a_missing_fact_prefers_nothing(chat, reply, rise, facts, backwards, taste):
    rises = [rise(reply(chat(one), taste=taste, taste_share=1)) for one in (facts(), backwards())]
    assert rises[0] == pytest.approx(rises[1], abs=0.05)


@pytest.mark.parametrize("taste", ["", "menus", "end.hearts", "movement.path.0"])
def test_a_taste_is_a_word_or_a_path(taste):
    assert Behaviour(taste=taste).taste == taste
    with pytest.raises(ValueError, match="taste"):
        Behaviour(taste=f"{taste}..")
