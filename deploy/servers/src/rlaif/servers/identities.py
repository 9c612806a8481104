"""Permissions of the services on NATS and S3, and the server configurations that apply them.

The administrator (`ADMIN`) has all permissions; it creates streams and buckets. A service publishes
its events of the catalog and acknowledges those of its own consumer. The table has all else.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rlaif.contracts.catalog import CATALOG, STREAMS, EventSpec, retry_subject, spec_of
from rlaif.contracts.events import ChampionChanged, DeadLetter
from rlaif.contracts.telemetry.readings import (
    DescriptionWish,
    JudgeCall,
    RewardModelStatus,
    ServiceHealth,
    WatchWish,
)
from rlaif.storage import keys
from rlaif.storage.keys import EPISODES_BUCKET, MODELS_BUCKET
from rlaif.storage.probe import SCRATCH

ADMIN = "admin"
SEGMENTS = ""
"""As a prefix: every key outside `keys.FOLDERS`."""

_ALL_TELEMETRY = "telemetry.>"
_DEAD = spec_of(DeadLetter).stream

_ACKS = ("", "*.*.")
"""Tokens before the stream in the two formats of acknowledgement subjects."""

_WRITE = ["s3:PutObject", "s3:DeleteObject"]


@dataclass(frozen=True)
class Objects:
    """Prefixes of a bucket's objects that may be read, and of those that may also be changed."""

    bucket: str
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


@dataclass(frozen=True)
class Identity:
    """A service's user of NATS and key of S3.

    Attributes:
        name: The service, its user and its access key.
        objects: Permissions in each bucket.
        publishes: Telemetry in addition to its health.
        subscribes: Telemetry that it receives.
        follows: Streams that it reads without a durable consumer.
        redrives: Whether it removes dead letters and publishes their events again.
    """

    name: str
    objects: tuple[Objects, ...]
    publishes: tuple[str, ...] = ()
    subscribes: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    redrives: bool = False


IDENTITIES: tuple[Identity, ...] = (
    Identity(
        "trainer",
        (
            Objects(EPISODES_BUCKET, write=("captures/", "keyframes/", "rooms/")),
            Objects(
                MODELS_BUCKET,
                read=("reward_model/",),
                write=("checkpoints/", "evaluations/", "pipeline/"),
            ),
        ),
        publishes=(_ALL_TELEMETRY,),
        subscribes=(WatchWish.SUBJECT, DescriptionWish.SUBJECT),
    ),
    Identity(
        "exporter",
        (Objects(EPISODES_BUCKET, read=("captures/", "keyframes/"), write=(SEGMENTS,)),),
        follows=(_DEAD,),
    ),
    Identity(
        "judge",
        (
            Objects(
                EPISODES_BUCKET,
                read=(SEGMENTS,),
                write=("comparisons/", "rejudge/", "rejudged/", "scores/", keys.SPENT_TOKENS),
            ),
            Objects(MODELS_BUCKET, read=(keys.WANTED_COMPARISONS,), write=("evaluations/epoch_",)),
        ),
        publishes=(JudgeCall.SUBJECT,),
    ),
    Identity(
        "reward-model",
        (
            Objects(EPISODES_BUCKET, read=(SEGMENTS, "comparisons/", "scores/")),
            Objects(MODELS_BUCKET, write=("reward_model/",)),
        ),
        publishes=(RewardModelStatus.SUBJECT,),
        follows=(spec_of(ChampionChanged).stream,),
    ),
    Identity(
        "hud",
        (Objects(EPISODES_BUCKET, read=(SEGMENTS, "rejudged/", "rooms/", "scores/")),),
        publishes=(WatchWish.SUBJECT, DescriptionWish.SUBJECT),
        subscribes=(_ALL_TELEMETRY,),
        follows=tuple(STREAMS),
        redrives=True,
    ),
)


def nats_users(password: Callable[[str], str] | None = None) -> str:
    """The users of nats-server, for its `authorization` or an account.

    Args:
        password: Returns a user's password as configuration text; by default a variable such
            as `$NATS_JUDGE_PASSWORD`.
    """
    password = password or (lambda name: f"$NATS_{_variable(name)}_PASSWORD")
    admin = f"  {{ user: {ADMIN}, password: {password(ADMIN)} }}\n"
    users = (
        f"  {{\n    user: {each.name}\n    password: {password(each.name)}\n    permissions {{\n"
        f"      publish {{\n{_listed('allow', published(each))}{_listed('deny', _denied(each))}"
        f"      }}\n"
        f"      subscribe {{\n{_listed('allow', subscribed(each))}      }}\n    }}\n  }}\n"
        for each in IDENTITIES
    )
    return f"users: [\n{admin}{''.join(users)}]\n"


def published(identity: Identity) -> list[str]:
    """The subjects that an identity may publish to, including those of the JetStream API."""
    consumed = list(_consumed(identity))
    retried = [c for spec in CATALOG for c in spec.consumers if identity.redrives]
    return [
        *(spec.pattern for spec in CATALOG if spec.producer == identity.name),
        *(spec_of(DeadLetter).subject.format(stream=spec.stream) for spec in consumed),
        *map(retry_subject, retried or ([identity.name] if consumed else [])),
        *identity.publishes,
        ServiceHealth.SUBJECT,
        *(f"$JS.API.STREAM.INFO.{name}" for name in STREAMS),
        *(f"$JS.API.CONSUMER.INFO.{spec.stream}.{c}" for spec in CATALOG for c in spec.consumers),
        *(f"$JS.API.CONSUMER.MSG.NEXT.{spec.stream}.{identity.name}" for spec in consumed),
        *(f"$JS.ACK.{each}{spec.stream}.{identity.name}.>" for spec in consumed for each in _ACKS),
        # Without a consumer name, this subject only creates ephemeral consumers.
        *(f"$JS.API.CONSUMER.CREATE.{name}" for name in identity.follows),
        *(f"$JS.API.CONSUMER.MSG.NEXT.{name}.*" for name in identity.follows),
        *(f"$JS.API.STREAM.MSG.{verb}.{_DEAD}" for verb in ("GET", "DELETE") if identity.redrives),
    ]


def subscribed(identity: Identity) -> list[str]:
    """The subjects that an identity may subscribe to; not the replies to other users."""
    return [f"_INBOX.{identity.name}.>", *identity.subscribes]


def _denied(identity: Identity) -> list[str]:
    """Subjects that fetch from durable consumers, denied to an identity that follows a stream."""
    return [
        f"$JS.API.CONSUMER.MSG.NEXT.{spec.stream}.{consumer}"
        for spec in CATALOG
        for consumer in spec.consumers
        if spec.stream in identity.follows and consumer != identity.name
    ]


def _consumed(identity: Identity) -> Iterator[EventSpec]:
    return (spec for spec in CATALOG if identity.name in spec.consumers)


def _listed(verb: str, subjects: list[str]) -> str:
    lines = "".join(f'          "{subject}"\n' for subject in dict.fromkeys(subjects))
    return f"        {verb}: [\n{lines}        ]\n" if subjects else ""


def s3_identities(secrets: Mapping[str, str], admin_key: str) -> dict[str, object]:
    """The identities of SeaweedFS in the format of `-s3.config`.

    Args:
        secrets: Secret key by name; an identity without one is omitted.
        admin_key: The administrator's access key.
    """

    def credentials(name: str, access_key: str) -> dict[str, object]:
        pair = {"accessKey": access_key, "secretKey": secrets[name]}
        return {"name": name, "credentials": [pair]}

    admin = credentials(ADMIN, admin_key)
    admin["actions"] = ["Admin", "Read", "Write", "List", "Tagging"]
    known = [each for each in IDENTITIES if each.name in secrets]
    others = [credentials(e.name, e.name) | {"policyNames": [e.name]} for e in known]
    policies = [{"name": e.name, "content": json.dumps(s3_policy(e))} for e in known]
    return {"identities": [admin, *others], "policies": policies}


def s3_policy(identity: Identity) -> dict[str, object]:
    """An identity's policy in the syntax of AWS, MinIO and SeaweedFS."""
    statements = [each for objects in identity.objects for each in _statements(objects)]
    return {"Version": "2012-10-17", "Statement": statements}


def _statements(objects: Objects) -> Iterator[dict[str, object]]:
    arn = f"arn:aws:s3:::{objects.bucket}"
    write = (*objects.write, SCRATCH) if objects.write else ()
    read = (*objects.read, *write, SCRATCH)
    for actions, prefixes in ((["s3:GetObject"], read), (_WRITE, write)):
        if prefixes:
            resources = [f"{arn}/{prefix}*" for prefix in dict.fromkeys(prefixes)]
            yield {"Effect": "Allow", "Action": actions, "Resource": resources}
        if SEGMENTS in prefixes:
            others = sorted(keys.FOLDERS - {prefix.partition("/")[0] for prefix in prefixes})
            resources = [f"{arn}/{folder}/*" for folder in others]
            yield {"Effect": "Deny", "Action": actions, "Resource": resources}
    if any(prefix == SEGMENTS or prefix.endswith("/") for prefix in objects.read + objects.write):
        yield {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [arn]}


def s3_script() -> str:
    """A shell here-document of `s3_identities` with the secret keys as variables."""
    secrets = {name: f"$S3_{_variable(name)}_SECRET_KEY" for name in names()}
    text = json.dumps(s3_identities(secrets, "$S3_ADMIN_ACCESS_KEY"), indent=1)
    return f"cat <<END\n{text}\nEND\n"


def names() -> tuple[str, ...]:
    """The administrator and the services."""
    return (ADMIN, *(each.name for each in IDENTITIES))


def _variable(name: str) -> str:
    return name.upper().replace("-", "_")
