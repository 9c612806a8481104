"""Requests and responses of the REST API of the reward-model service."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from rlaif.contracts.model import Contract
from rlaif.contracts.reward_models import GamingAlarm, GateMetrics, RewardModelManifest

BY_HAND = "set by hand"
"""Reason of a change that was made without one."""


class PinRequest(Contract):
    """Why the champion is to stay."""

    reason: str = Field(default=BY_HAND, min_length=1, max_length=500)


class ActivationRequest(Contract):
    """How a version is made live again."""

    pin: bool = Field(default=True, description="Whether it stays until it is unpinned.")
    reason: str = Field(default=BY_HAND, min_length=1, max_length=500)


class MeasuredAccuracy(Contract):
    """How often decided pairs are ranked as the judges did; null without such pairs."""

    value: float | None
    low: float | None = Field(description="Lower end of its one-sided interval.")
    high: float | None = Field(description="Upper end of its one-sided interval.")
    pairs: int


class ChampionReport(Contract):
    """The model that is live."""

    version: int
    activation: int = Field(description="Rises with every change of the champion.")
    pinned: bool = Field(description="Whether no candidate may replace it.")
    pin_reason: str | None
    pinned_until: datetime | None = Field(
        description="When the pin ends by itself; null: when a person unpins it."
    )
    manifest: RewardModelManifest


class UnreadableVersion(Contract):
    """A published model whose record cannot be read."""

    version: int
    reason: str


class ComparisonReport(Contract):
    """Two versions side by side."""

    first: int
    second: int
    first_accuracy: MeasuredAccuracy = Field(description="On the held-out pairs of today's labels.")
    second_accuracy: MeasuredAccuracy
    correlation: float | None = Field(description="Rank correlation of both potentials.")
    disagree: float | None = Field(description="Share of pairs that they rank differently.")
    first_metrics: GateMetrics = Field(description="What the gate measured then.")
    second_metrics: GateMetrics


class WatchdogReport(Contract):
    """Body of `/api/v1/watchdog`: state of the reward hacking monitor."""

    iterations: int = Field(description="Iterations in the window now.")
    window: int = Field(description="Iterations that a full window has.")
    alarms: int = Field(description="Alarms since the service started.")
    last_alarm: str | None = Field(description="Description of the last alarm.")
    last_alarm_version: int | None
    alarm: GamingAlarm | None = Field(
        default=None, description="The last alarm; null if there was none since the start."
    )


class GateCheck(Contract):
    """One thing that the gate asks of a candidate, and what it measured."""

    name: str = Field(description="Stable word for machines.")
    what: str = Field(description="For people.")
    value: float | None = Field(default=None, description="The measurement itself.")
    low: float | None = Field(default=None, description="Lower end of its one-sided interval.")
    high: float | None = Field(default=None, description="Upper end of its one-sided interval.")
    count: int | None = Field(default=None, description="What it was measured on.")
    of: str | None = Field(default=None, description="What is counted, such as `pairs`.")
    compared: Literal["value", "low", "high"] = Field(
        default="value", description="Which of the three is held against `bound`."
    )
    relation: Literal[">=", ">", "<="] = ">="
    bound: float | None = Field(default=None, description="Null when nothing is asked of it.")
    holds: bool | None = Field(
        default=None,
        description="Null when it was not measured, on too little to say anything, or when the "
        "record does not contain it.",
    )
    note: str | None = Field(
        default=None, description="Why it holds although the number is beyond the bound."
    )


class GateReport(Contract):
    """What the gate asked of one version, check by check."""

    version: int
    confidence: float = Field(description="One-sided, of each end of the intervals.")
    settings_known: bool = Field(
        description="Whether the record has the settings of the day; else the bounds are those "
        "that the service has now."
    )
    checks: tuple[GateCheck, ...]


class ReliabilityBin(Contract):
    """Held-out pairs of which a model was about as sure, and how often it was right."""

    expected: float = Field(description="Mean probability of the side that it takes for better.")
    right: float | None = Field(description="Share in which judges did, too.")
    low: float | None
    high: float | None
    pairs: int


class SlotPay(Contract):
    """What a model pays for one number of the observation, over labelled segments."""

    slot: int
    name: str
    group: str
    meaning: str
    mean: float = Field(description="Mean over the segments; the slots sum to the mean pay.")
    mean_absolute: float = Field(description="Mean of its size, whichever its sign.")
    segments: int = Field(description="Segments in which it was paid for at all.")


class PayBySlot(Contract):
    """Where the pay of a model comes from: each segment's pay, dealt among the slots.

    By integrated gradients from the segment's first observation to its last (Sundararajan, Taly &
    Yan 2017), so that the slots of a segment sum to what it is paid.
    """

    segments: int = Field(description="Labelled segments that were looked at, the newest.")
    mean_pay: float | None
    mean_absolute_pay: float | None
    largest_rest: float | None = Field(
        description="Largest part of a segment's pay that the slots do not sum to: of the "
        "numerical integral."
    )
    slots: tuple[SlotPay, ...] = Field(description="Those that were paid for, the most first.")


class ExaminationReport(Contract):
    """One version on the labels of now."""

    version: int
    labels: int
    confidence: float = Field(description="One-sided, of each end of the intervals.")
    accuracy: MeasuredAccuracy = Field(description="On held-out pairs.")
    calibration_error: float | None = Field(description="Expected, in ten bins, on the same.")
    reliability: tuple[ReliabilityBin, ...]
    pay: PayBySlot
