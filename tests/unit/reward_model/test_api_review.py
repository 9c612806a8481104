"""The review over REST: pairs without a word, votes with the judges' words, and what is learned."""

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from rlaif.reward_model.api.review import build_review_router
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.reward_model.labels.votes import VoteLog
from rlaif.reward_model.review.service import Review
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scored_segments import ForReview, play, write_scored
from rlaif.testing.servers.client import client_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SEGMENTS = play(episodes=7, each=6, signal=True, distractors=2, wrong=0.0)


class Process:
    """A reward-model service on a store, as far as the review needs it."""

    def __init__(self, store: ObjectStore, training_of: Callable[..., TrainingLoop]) -> None:
        votes = VoteLog(store)
        self.training = training_of(store, votes=votes, retrain_min_new=10_000)
        self.review = Review(self.training, votes, ScoreReader(store), now=self.now)
        self.at = NOW

    def now(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at

    def client(self) -> httpx.AsyncClient:
        return client_of(build_review_router(lambda: self.review), prefix="/api/v1")


def judged(store: ObjectStore, segment: Any) -> None:
    """A score by two judges, one of whom gave a reason."""
    judges = {name: "puzzle" if name == "puzzle" else "state" for name in segment.values}
    words = {"state": f"words on {segment.segment_id}"}
    write_scored(store, segment, more=ForReview(judges, words))


@pytest.fixture
async def process(file_store: ObjectStore, training_of) -> Process:
    for segment in SEGMENTS:
        judged(file_store, segment)
    made = Process(file_store, training_of)
    await made.training.step()
    return made


@pytest.fixture
async def client(process: Process) -> AsyncIterator[httpx.AsyncClient]:
    async with process.client() as made:
        yield made


async def next_pairs(client, actor="ada", limit=8):
    params = {"actor": actor, "limit": limit}
    return (await client.get("/pairs/next", params=params)).raise_for_status().json()["items"]


async def vote(client, pair, choice="a", *, actor="ada", blind=True, key=""):
    body = {"actor": actor, "a": pair["a"]["segment_id"], "choice": choice, "blind": blind}
    return await client.post(
        f"/preferences/{pair['pair_id']}/votes", json=body, headers={"Idempotency-Key": key}
    )


async def test_what_is_asked_holds_two_clips_and_nothing_else(client):
    pairs = await next_pairs(client)
    assert len(pairs) == 8
    for pair in pairs:
        assert set(pair) == {"pair_id", "a", "b"}
        assert set(pair["a"]) == set(pair["b"]) == {"segment_id", "episode_id", "decision_steps"}
        assert pair["a"] != pair["b"]
        assert pair["a"]["segment_id"] != pair["b"]["segment_id"]
        assert pair == (await client.get(f"/pairs/{pair['pair_id']}")).json()
    sides = {pair["pair_id"].startswith(pair["a"]["segment_id"]) for pair in pairs}
    assert sides == {True, False}, "A is not always the smaller id"


async def test_a_vote_is_a_line_of_the_log_and_its_answer_has_the_judges_words(client, file_store):
    (pair, *_) = await next_pairs(client)
    answer = await vote(client, pair, "a")
    assert answer.status_code == 201
    report = answer.json()
    record = report["record"]
    assert json.loads(file_store.get(keys.vote(1))) == record
    assert (record["actor"], record["choice"], record["blind"]) == ("ada", "a", True)
    assert record["created_at"] == "2026-01-02T00:00:01Z"
    assert record["verdict"]["judge_config"] == "config-1"
    said = {item["rater"]: item["says"] for item in record["verdict"]["opinions"]}
    assert {"puzzle", "state", "panel"} <= set(said)
    judges = [said["puzzle"], said["state"]]
    assert (report["agreed"], report["asked"]) == (judges.count("a"), 2)
    assert {(word["of"], word["text"]) for word in report["words"]} == {
        (side, f"words on {pair[side]['segment_id']}") for side in ("a", "b")
    }


async def test_the_live_model_has_an_opinion_once_there_is_one(client, process):
    (first, second, *_) = await next_pairs(client)
    before = (await vote(client, first)).json()["record"]["verdict"]
    assert before["model_version"] is None
    process.training.request()
    await process.training.step()
    after = (await vote(client, second)).json()["record"]["verdict"]
    assert after["model_version"] == 1
    (model,) = [item for item in after["opinions"] if item["rater"] == "reward-model"]
    assert model["says"] in ("a", "b")
    assert -1 < model["margin"] < 1


async def test_a_vote_is_learned_by_the_next_training_and_named_in_its_record(client, process):
    (pair, *_) = await next_pairs(client)
    ids = {pair["a"]["segment_id"], pair["b"]["segment_id"]}
    await vote(client, pair, "a")
    assert process.training.votes == 0
    await process.training.step()
    status = process.training.status()
    assert status.votes == 1
    assert (await client.get("/agreement")).json()["teaching"] == 1
    process.training.request()
    await process.training.step()
    (taught,) = [item for item in process.training.pairs() if item.voted]
    assert {taught.a, taught.b} == ids
    assert (taught.target > 0.8) is (taught.a == pair["a"]["segment_id"])
    manifest = process.training.champions.registry.manifest(1)
    assert manifest.lineage.votes == 1
    assert process.training.status().new_labels == 0


async def test_a_vote_makes_a_candidate_of_the_same_scores_another_one(client, process):
    process.training.request()
    await process.training.step()
    process.training.request()
    await process.training.step()
    assert process.training.status().last_attempt.outcome == "unchanged"
    (pair, *_) = await next_pairs(client)
    await vote(client, pair)
    await process.training.step()
    assert process.training.status().new_labels == 1
    process.training.request()
    await process.training.step()
    assert process.training.status().last_attempt.outcome != "unchanged"


async def test_another_process_knows_the_votes(client, process, file_store, training_of):
    (pair, *_) = await next_pairs(client)
    await vote(client, pair)
    again = Process(file_store, training_of)
    await again.training.step()
    assert again.training.votes == 1
    async with again.client() as other:
        shown = {each["pair_id"] for each in await next_pairs(other)}
        assert pair["pair_id"] not in shown
        assert (await other.get("/votes")).json() == (await client.get("/votes")).json()


async def test_no_person_is_asked_twice_and_another_person_may_be_asked_the_same(client):
    pairs = await next_pairs(client, limit=2)
    await vote(client, pairs[0])
    assert [each["pair_id"] for each in await next_pairs(client, limit=1)] == [pairs[1]["pair_id"]]
    theirs = [each["pair_id"] for each in await next_pairs(client, actor="bob")]
    assert pairs[0]["pair_id"] in theirs
    await vote(client, pairs[0], actor="bob")
    third = [each["pair_id"] for each in await next_pairs(client, actor="cyd")]
    assert pairs[0]["pair_id"] not in third, "two people are enough"


async def test_a_request_that_is_sent_again_is_one_vote(client):
    pair, another, *_ = await next_pairs(client)
    first, again = [await vote(client, pair, key="k-1") for _ in range(2)]
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    others = [
        await vote(client, pair, "b", key="k-2"),
        await vote(client, another, key="k-1"),
        await vote(client, pair, actor="bob", key="k-1"),
    ]
    assert [other.json()["record"]["number"] for other in others] == [2, 3, 4]


async def test_a_second_vote_on_a_pair_is_not_blind_whatever_the_page_says(client):
    (pair, *_) = await next_pairs(client)
    assert (await vote(client, pair)).json()["record"]["blind"]
    assert not (await vote(client, pair, "b")).json()["record"]["blind"]
    assert (await vote(client, pair, actor="bob")).json()["record"]["blind"]
    assert not (await vote(client, pair, actor="cyd", blind=False)).json()["record"]["blind"]


async def test_a_skip_reveals_nothing_and_allows_a_blind_vote(client, process):
    (pair, *_) = await next_pairs(client)
    report = (await vote(client, pair, "skip")).json()
    assert (report["words"], report["asked"]) == ([], 0)
    assert report["record"]["verdict"]["opinions"] == []
    assert pair["pair_id"] not in {each["pair_id"] for each in await next_pairs(client)}
    assert (await vote(client, pair)).json()["record"]["blind"]
    await process.training.step()
    assert process.training.votes == 1


async def test_taking_a_vote_back_is_another_line_and_it_teaches_nothing_more(
    client, process, file_store
):
    (pair, *_) = await next_pairs(client)
    await vote(client, pair)
    before = file_store.get(keys.vote(1))
    undone = await client.post("/votes/1/undo", json={"actor": "ada"})
    assert undone.status_code == 201
    assert (undone.json()["kind"], undone.json()["undoes"]) == ("undo", 1)
    again = await client.post("/votes/1/undo", json={"actor": "ada"})
    assert (again.status_code, again.json()) == (200, undone.json())
    assert file_store.get(keys.vote(1)) == before
    await process.training.step()
    assert process.training.votes == 0
    lines = (await client.get("/votes", params={"limit": 1})).json()
    assert [line["number"] for line in lines["items"]] == [2]
    rest = await client.get("/votes", params={"cursor": lines["next_cursor"]})
    assert [line["number"] for line in rest.json()["items"]] == [1]


async def test_skipped_and_withdrawn_votes_do_not_remove_a_pair_from_the_list(client):
    async def shown(actor):
        return pair["pair_id"] in {each["pair_id"] for each in await next_pairs(client, actor)}

    (pair, *_) = await next_pairs(client)
    for actor in ("bob", "cyd"):
        await vote(client, pair, "skip", actor=actor)
    await vote(client, pair)
    assert (await shown("ada"), await shown("bob"), await shown("dan")) == (False, False, True)
    await client.post("/votes/3/undo", json={"actor": "ada"})
    assert await shown("ada")
    for actor in ("dan", "eve"):
        await vote(client, pair, actor=actor)
    assert not await shown("ada")


async def test_a_vote_is_withdrawn_by_its_author_only(client):
    (pair, *_) = await next_pairs(client)
    await vote(client, pair)
    answer = await client.post("/votes/1/undo", json={"actor": "bob"})
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/vote-of-another")
    missing = await client.post("/votes/9/undo", json={"actor": "ada"})
    assert (missing.status_code, missing.json()["type"]) == (404, "/problems/pair-not-found")


async def test_why_a_pair_was_shown_is_kept_although_the_list_is_a_new_one_by_then(client, process):
    pairs = await next_pairs(client)
    process.training.request()
    await process.training.step()
    await next_pairs(client, actor="bob")
    why = [(await vote(client, pair)).json()["record"]["why"] for pair in pairs[:6]]
    assert "asked" not in why
    assert why.count("uniform") >= 2


@pytest.mark.parametrize(
    ("pair_id", "status"),
    [
        ("run-000-000--run-000-000", 404),  # the same clip twice
        ("run-000-000--elsewhere", 404),
        ("run-000-000", 422),
        ("Run--x", 422),
    ],
)
async def test_a_pair_without_two_labels_is_a_problem(client, pair_id, status):
    assert (await client.get(f"/pairs/{pair_id}")).status_code == status
    body = {"actor": "ada", "a": "run-000-000", "choice": "a", "blind": True}
    assert (await client.post(f"/preferences/{pair_id}/votes", json=body)).status_code == status


@pytest.mark.parametrize(
    "wrong",
    [{"actor": "  "}, {"actor": "x" * 65}, {"actor": "a\nb"}, {"choice": "c"}, {"a": "other"},
     {"more": 1}],
)  # fmt: skip
async def test_an_invalid_vote_is_refused_and_leaves_no_line(client, file_store, wrong):
    (pair, *_) = await next_pairs(client)
    body = {"actor": "ada", "a": pair["a"]["segment_id"], "choice": "a", "blind": True} | wrong
    answer = await client.post(f"/preferences/{pair['pair_id']}/votes", json=body)
    assert answer.status_code in (404, 422)
    assert list(file_store.list(keys.VOTES)) == []
