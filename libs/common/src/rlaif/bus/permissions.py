"""The least rights on NATS with which every service works, where the bootstrap makes the streams.

In the notation of nats-server, for the `permissions` of the services' user. The bootstrap's own
user needs `$JS.API.>` and its inbox.
"""

from rlaif.contracts.catalog import CATALOG, STREAMS, spec_of
from rlaif.contracts.events import DeadLetter

INBOX = "_INBOX.>"
"""Where answers arrive."""

TELEMETRY = "telemetry.>"


def may_publish() -> list[str]:
    """Subjects on which a service sends: events, telemetry, and what it asks of JetStream."""
    return [
        *(spec.pattern for spec in CATALOG),
        TELEMETRY,
        *(f"$JS.API.STREAM.INFO.{name}" for name in STREAMS),
        *(
            f"$JS.API.CONSUMER.INFO.{spec.stream}.{consumer}"
            for spec in CATALOG
            for consumer in spec.consumers
        ),
        # Without a name behind it, NATS makes no durable consumer: the page follows streams by
        # consumers that the server forgets.
        *(f"$JS.API.CONSUMER.CREATE.{name}" for name in STREAMS),
        *(f"$JS.API.CONSUMER.MSG.NEXT.{name}.*" for name in STREAMS),
        f"$JS.API.STREAM.MSG.GET.{spec_of(DeadLetter).stream}",
        # An event that is sent again leaves the dead letters.
        f"$JS.API.STREAM.MSG.DELETE.{spec_of(DeadLetter).stream}",
        "$JS.ACK.>",
    ]


def may_subscribe() -> list[str]:
    """Subjects that a service follows."""
    return [INBOX, TELEMETRY]


def as_configuration() -> str:
    """Both lists, to be included inside `permissions { … }`."""
    return "".join(
        f"{verb} {{\n  allow: [\n{''.join(lines)}  ]\n}}\n"
        for verb, lines in (
            ("publish", [f'    "{subject}"\n' for subject in may_publish()]),
            ("subscribe", [f'    "{subject}"\n' for subject in may_subscribe()]),
        )
    )
