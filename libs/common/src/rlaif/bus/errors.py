"""Exceptions of the bus.

BusError
├── BusUnavailableError      NATS is unreachable, refused us or timed out; retry
│   └── StreamsMissingError  streams or consumers are missing and may not be created
├── EventRefusedError        NATS rejects this event; retrying does not help
└── UnknownDeadLetterError   there is no dead letter of this event

Handlers raise those of `rlaif.bus.outcome` instead.
"""


class BusError(Exception):
    """Base class of bus errors."""


class BusUnavailableError(BusError):
    """A request to NATS failed or timed out; the message names the server and its last error."""


class StreamsMissingError(BusUnavailableError):
    """This process may not create the missing streams or consumers named in the message."""


class EventRefusedError(BusError):
    """The event exceeds a limit of its stream, such as the maximum message size."""


class UnknownDeadLetterError(BusError, LookupError):
    """No dead letter has this event id."""
