"""A judge's user of NATS and key of S3, on the real servers: it can judge, and nothing else."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial

import nats.errors
import pytest

from rlaif.bus.connection import Bus, connect
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import SegmentExported, SegmentScored
from rlaif.contracts.telemetry.readings import JudgeCall
from rlaif.servers.identities import IDENTITIES, s3_policy
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError
from rlaif.storage.probe import probe_store
from rlaif.storage.s3 import S3Store
from rlaif.testing.data.events import segment_exported, segment_scored
from rlaif.testing.servers.nats_server import NatsServer
from rlaif.testing.servers.s3_server import running_s3_server
from rlaif.testing.waiting import eventually

EXPORTED, SCORED = spec_of(SegmentExported).stream, spec_of(SegmentScored).stream


@pytest.fixture
async def admin(guarded_nats: NatsServer) -> AsyncIterator[Bus]:
    bus = await connect(guarded_nats.url_of("admin"), name="admin")
    await bus.align_topology()
    yield bus
    await bus.close()


@pytest.fixture
async def judge(admin: Bus, guarded_nats: NatsServer) -> AsyncIterator[Bus]:
    bus = await connect(guarded_nats.url_of("judge"), name="judge", manage_streams=False)
    await bus.ensure_topology()
    yield bus
    await bus.close()


async def test_it_publishes_scores_and_telemetry_and_dead_letters(judge: Bus, admin: Bus) -> None:
    assert await judge.publisher("judge").publish(segment_scored())
    assert (await admin.jetstream.stream_info(SCORED)).state.messages == 1
    heard = asyncio.ensure_future(anext(admin.subscribe(JudgeCall.SUBJECT)))
    while not heard.done():
        await judge.telemetry().send_bytes(JudgeCall.SUBJECT, b"{}")
        await asyncio.wait((heard,), timeout=0.05)
    await judge.jetstream.publish(f"dead.{EXPORTED}", b"{}")


FORBIDDEN = [
    *("segment.captured", "segment.exported", "rm.published", "rm.rejected", "rm.changed"),
    *("run.started", "run.iterated", "retry.trainer", "dead.SCORES", "telemetry.progress"),
    *(f"$JS.API.STREAM.{verb}.{EXPORTED}" for verb in ("DELETE", "PURGE", "UPDATE")),
    *("$JS.API.STREAM.CREATE.NEW", f"$JS.API.STREAM.MSG.DELETE.{EXPORTED}"),
    *("$JS.API.STREAM.MSG.GET.DEAD", "$JS.API.STREAM.MSG.DELETE.DEAD"),
    *(f"$JS.API.CONSUMER.CREATE.{SCORED}", f"$JS.API.CONSUMER.CREATE.{EXPORTED}.mine"),
    *(f"$JS.API.CONSUMER.DURABLE.CREATE.{SCORED}.mine", f"$JS.API.CONSUMER.DELETE.{SCORED}.judge"),
    *(f"$JS.API.CONSUMER.MSG.NEXT.{SCORED}.reward-model", f"$JS.ACK.{SCORED}.reward-model.1.1.1"),
    *("$JS.API.STREAM.LIST", "$JS.API.INFO", "$SYS.REQ.SERVER.PING"),
]


@pytest.mark.parametrize("subject", FORBIDDEN)
async def test_it_may_publish_nothing_else(judge: Bus, admin: Bus, subject: str) -> None:
    with pytest.raises((nats.errors.TimeoutError, nats.errors.NoRespondersError)):
        await judge.client.request(subject, b"{}", timeout=0.3)
    refusal = f'publish to "{subject.lower()}"'
    await eventually(lambda: refusal in judge.last_error_note, "it is refused")
    assert [s.state.messages for s in await admin.jetstream.streams_info()] == [0] * 6


@pytest.mark.parametrize("identity", [each.name for each in IDENTITIES])
async def test_no_service_may_administer_streams(
    admin: Bus, guarded_nats: NatsServer, identity: str
) -> None:
    bus = await connect(guarded_nats.url_of(identity), name=identity, manage_streams=False)
    verbs = (f"STREAM.{verb}.{EXPORTED}" for verb in ("DELETE", "PURGE", "UPDATE", "MSG.DELETE"))
    for subject in (f"$JS.API.{each}" for each in (*verbs, "STREAM.CREATE.NEW")):
        with pytest.raises((nats.errors.TimeoutError, nats.errors.NoRespondersError)):
            await bus.client.request(subject, b"{}", timeout=0.3)
        await eventually(partial(refused, bus, subject), "it is refused")
    await bus.close()
    assert len(await admin.jetstream.streams_info()) == 6


def refused(bus: Bus, subject: str) -> bool:
    return f'publish to "{subject.lower()}"' in bus.last_error_note


@pytest.mark.parametrize("subject", ["segment.>", "telemetry.>", "_INBOX.>", "_INBOX.admin.>", ">"])
async def test_it_hears_nothing_but_its_own_replies(judge: Bus, subject: str) -> None:
    await judge.client.subscribe(subject)
    refusal = f'subscription to "{subject.lower()}"'
    await eventually(lambda: refusal in judge.last_error_note, "it is refused")


async def test_a_consumer_made_by_the_page_reads_no_events_of_another(
    admin: Bus, guarded_nats: NatsServer
) -> None:
    hud = await connect(guarded_nats.url_of("hud"), name="hud", manage_streams=False)
    await admin.publisher("exporter").publish(segment_exported())
    subject = f"$JS.API.CONSUMER.MSG.NEXT.{EXPORTED}.judge"
    with pytest.raises(nats.errors.TimeoutError):
        await hud.client.request(subject, b"{}", timeout=0.3)
    await hud.close()
    info = await admin.jetstream.consumer_info(EXPORTED, "judge")
    assert (info.num_pending, info.num_ack_pending) == (1, 0)


Stores = Callable[[str, str], ObjectStore]
"""Gives the store of a bucket to an identity; `admin` may do everything."""


@pytest.fixture(scope="module")
def stores() -> Iterator[Stores]:
    secrets = {each.name: f"{each.name}-secret" for each in IDENTITIES}
    with running_s3_server(secrets=secrets) as server:
        given = server.credentials

        def store(identity: str, bucket: str) -> ObjectStore:
            admin = identity == "admin"
            return S3Store(
                bucket,
                endpoint_url=given.endpoint_url,
                access_key=given.access_key if admin else identity,
                secret_key=given.secret_key if admin else secrets[identity],
                attempts=1,
            )

        for bucket, key in OBJECTS:
            store("admin", bucket).put(key, b"the administrator's")
        yield store


EPISODES, MODELS = keys.EPISODES_BUCKET, keys.MODELS_BUCKET
CAPTURE = (EPISODES, keys.capture("run-1", "run-1-s00001"))
KEYFRAME = (EPISODES, keys.keyframe("0" * 64))
MANIFEST = (EPISODES, keys.manifest("run-1", "run-1-s00001"))
ROOM = (EPISODES, keys.room_picture("run-1", 0, 1))
SCORE = (EPISODES, keys.score("config", "run-1-s00001"))
MODEL = (MODELS, keys.reward_model(1, "rm.safetensors"))
CHAMPION = (MODELS, keys.CHAMPION)
WANTED = (MODELS, keys.WANTED_COMPARISONS)
CHECKPOINT = (MODELS, keys.run_checkpoint("run-1", "iteration-1", "policy.pt"))
PROGRESS = (MODELS, keys.PROGRESS)
OBJECTS = [
    *(CAPTURE, KEYFRAME, MANIFEST, ROOM, SCORE, MODEL, CHAMPION, WANTED, CHECKPOINT, PROGRESS),
]
MAY = {
    "trainer": ({MODEL, CHAMPION, WANTED}, {CAPTURE, KEYFRAME, ROOM, CHECKPOINT, PROGRESS}),
    "exporter": ({CAPTURE, KEYFRAME}, {MANIFEST}),
    "judge": ({MANIFEST, WANTED}, {SCORE}),
    "reward-model": ({MANIFEST, SCORE}, {MODEL, CHAMPION, WANTED}),
    "hud": ({MANIFEST, SCORE, ROOM}, set()),
}
"""What an identity may read only, and what it may write, too."""


@pytest.mark.parametrize("thing", OBJECTS, ids=[key for _, key in OBJECTS])
@pytest.mark.parametrize("identity", MAY)
def test_an_identity_reads_and_writes_its_own_objects_and_no_others(
    stores: Stores, identity: str, thing: tuple[str, str]
) -> None:
    (bucket, key), (read, write) = thing, MAY[identity]
    store, admin = stores(identity, bucket), stores("admin", bucket)
    if thing in read | write:
        assert store.get(key) == b"the administrator's"
    else:
        with pytest.raises(StoreUnavailableError, match="AccessDenied"):
            store.get(key)
    if thing in write:
        store.put(key, b"its own")
        store.delete_many([key])
        admin.put(key, b"the administrator's")
        return
    for forbidden in (
        lambda: store.put(key, b"x"),
        lambda: store.put_once(f"{key}.new", b"x"),
        lambda: store.delete_many([key]),
    ):
        with pytest.raises(StoreUnavailableError, match=r"AccessDenied|Access Denied"):
            forbidden()
    assert admin.get(key) == b"the administrator's"
    assert admin.head(f"{key}.new") is None


def test_what_is_missing_is_missing_and_the_start_of_a_judge_works(stores: Stores) -> None:
    probe_store(stores("judge", EPISODES))
    assert stores("judge", EPISODES).head(keys.score("config", "other")) is None
    assert [info.key for info in stores("judge", EPISODES).list("scores/")] == [SCORE[1]]


def test_only_the_administrator_makes_buckets_or_lists_the_models(stores: Stores) -> None:
    for identity in MAY:
        with pytest.raises(StoreUnavailableError):
            stores(identity, "another").put("key", b"x")
    with pytest.raises(StoreUnavailableError, match="AccessDenied"):
        list(stores("judge", MODELS).list())


def test_policies_are_what_aws_and_minio_take() -> None:
    for identity in IDENTITIES:
        policy = json.loads(json.dumps(s3_policy(identity)))
        assert policy["Version"] == "2012-10-17"
        assert {each["Effect"] for each in policy["Statement"]} <= {"Allow", "Deny"}
