"""What can go wrong on the bus.

BusError
├── BusUnavailableError      NATS is away, refuses us, or did not answer in time; try again
│   └── StreamsMissingError  streams or consumers are missing, and others are to make them
├── EventRefusedError        NATS will never take this event; trying again does not help
└── UnknownDeadLetterError   there is no dead letter of this event

Handlers answer with `rlaif.bus.outcome` instead.
"""


class BusError(Exception):
    """Base of the bus's own errors."""


class BusUnavailableError(BusError):
    """NATS did not do what was asked in time; the text names the server and its last error."""


class StreamsMissingError(BusUnavailableError):
    """Streams or consumers are missing that this program may not make; the text names them."""


class EventRefusedError(BusError):
    """The event breaks a limit of its stream, such as the largest message size."""


class UnknownDeadLetterError(BusError, LookupError):
    """No dead letter in the stream carries this event id."""
