"""Requests and responses of the REST API of the reward-model service."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from rlaif.contracts.model import Contract
from rlaif.contracts.reward_models import GamingAlarm, GateMetrics, RewardModelManifest

BY_HAND = "set by hand"
"""Default reason of a manual change."""


class PinRequest(Contract):
    """Pin the champion."""

    reason: str = Field(default=BY_HAND, min_length=1, max_length=500)


class ActivationRequest(Contract):
    """Make a version live again."""

    pin: bool = Field(default=True, description="Whether it remains live until it is unpinned.")
    reason: str = Field(default=BY_HAND, min_length=1, max_length=500)


class MeasuredAccuracy(Contract):
    """Share of decided pairs ranked like the judges do, with one-sided interval; null: no pairs."""

    value: float | None
    low: float | None
    high: float | None
    pairs: int


class ChampionReport(Contract):
    """The live model."""

    version: int
    activation: int = Field(description="Increases with every change of the champion.")
    pinned: bool = Field(description="Whether no candidate may replace it.")
    pin_reason: str | None
    pinned_until: datetime | None = Field(
        description="End of the pin; null: when a person unpins it."
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
    first_accuracy: MeasuredAccuracy = Field(description="On held-out pairs of the current labels.")
    second_accuracy: MeasuredAccuracy
    first_metrics: GateMetrics = Field(description="Measurements of the gate at that time.")
    second_metrics: GateMetrics
    correlation: float | None = Field(description="Rank correlation of both potentials.")
    disagree: float | None = Field(description="Share of pairs that they rank differently.")


class WatchdogReport(Contract):
    """Body of `/api/v1/watchdog`: state of the reward hacking monitor."""

    iterations: int = Field(description="Points of the run's history in the current window.")
    window: int = Field(description="Minimum number of points of a full window.")
    alarms: int = Field(description="Alarms since the service started.")
    alarm: GamingAlarm | None = Field(
        default=None, description="The last alarm; null if there was none since the start."
    )


class GateCheck(Contract):
    """One requirement of the gate, and the measurement of a candidate."""

    name: str = Field(description="Stable code.")
    what: str = Field(description="Description.")
    value: float | None = None
    low: float | None = Field(default=None, description="Lower end of its one-sided interval.")
    high: float | None = Field(default=None, description="Upper end of its one-sided interval.")
    count: int | None = Field(default=None, description="Size of the sample.")
    of: str | None = Field(default=None, description="Unit of the count, such as `pairs`.")
    compared: Literal["value", "low", "high"] = Field(
        default="value", description="Value that is compared with `bound`."
    )
    relation: Literal[">=", ">", "<="] = ">="
    bound: float | None = Field(default=None, description="Null without a requirement.")
    holds: bool | None = Field(
        default=None,
        description="Null: not measured, sample too small, or not part of the record.",
    )


class GateReport(Contract):
    """Checks of the gate for one version."""

    version: int
    confidence: float = Field(description="One-sided, of each end of the intervals.")
    settings_known: bool = Field(
        description="Whether the record contains its settings; else the current bounds are used."
    )
    checks: tuple[GateCheck, ...]


class ReliabilityBin(Contract):
    """Held-out pairs of similar predicted probability, and the accuracy on them."""

    expected: float = Field(description="Mean probability of the preferred segment.")
    right: float | None = Field(description="Share of them with the judges' preference.")
    low: float | None
    high: float | None
    pairs: int


class SlotPay(Contract):
    """Contribution of one number of the observation to the shaping reward."""

    slot: int
    name: str
    group: str
    meaning: str
    mean: float = Field(description="Mean over the segments; the slots sum to the mean reward.")
    mean_absolute: float
    segments: int = Field(description="Segments with a contribution.")


class PayBySlot(Contract):
    """Attribution of each segment's shaping reward to the slots of the observation.

    By integrated gradients from the first observation to the last (Sundararajan, Taly & Yan 2017):
    the slots of a segment sum to its reward.
    """

    segments: int = Field(description="Number of labelled segments, the newest.")
    mean_pay: float | None
    mean_absolute_pay: float | None
    largest_rest: float | None = Field(
        description="Largest difference between a segment's reward and the sum of its slots, an "
        "error of the numerical integral."
    )
    slots: tuple[SlotPay, ...] = Field(description="Slots with a contribution, largest first.")


class ExaminationReport(Contract):
    """Examination of one version on the current labels."""

    version: int
    labels: int
    confidence: float = Field(description="One-sided, of each end of the intervals.")
    accuracy: MeasuredAccuracy = Field(description="On held-out pairs.")
    calibration_error: float | None = Field(description="Expected calibration error, in ten bins.")
    reliability: tuple[ReliabilityBin, ...]
    pay: PayBySlot
