"""CloudEvents 1.0 in structured JSON mode: how event data travels."""

from typing import Generic, Literal, TypeVar

from pydantic import AwareDatetime, Field

from rlaif.contracts.events import EventData
from rlaif.contracts.model import Contract

D = TypeVar("D", bound=EventData)


class CloudEvent(Contract, Generic[D]):
    """One event with its context attributes.

    `id` is also the `Nats-Msg-Id`, so that publishing twice within the stream's duplicate window
    stores one message. Specification: CloudEvents 1.0.2, JSON event format.
    """

    specversion: Literal["1.0"] = "1.0"
    id: str = Field(min_length=1, max_length=200)
    source: str = Field(description="Who published it, such as `rlaif/exporter`.")
    type: str
    subject: str | None = Field(default=None, description="Id of the thing it is about.")
    time: AwareDatetime
    datacontenttype: Literal["application/json"] = "application/json"
    traceparent: str | None = Field(default=None, description="W3C trace context.")
    data: D
