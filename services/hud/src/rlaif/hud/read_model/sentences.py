"""One short sentence for each event, for the event log."""

from typing import Literal

from rlaif.contracts.events import (
    DeadLetter,
    EventData,
    RewardModelPublished,
    RewardModelRejected,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.contracts.telemetry import JudgeCall
from rlaif.hud.read_model.judge_health import Recovery
from rlaif.hud.read_model.views import FailingJudge

Level = Literal["info", "warning"]


def sentence(data: EventData, *, went_back_from: int | None = None) -> tuple[str, Level]:
    """What happened, and whether somebody should look at it."""
    match data:
        case SegmentCaptured():
            return (
                f"Captured segment {data.segment_id} at step {data.env_step:,}: "
                f"{data.decision_steps} decisions.",
                "info",
            )
        case SegmentExported():
            return f"Exported segment {data.segment_id}: {data.frames} frames verified.", "info"
        case SegmentScored():
            return _scored(data), "info"
        case RewardModelPublished() if went_back_from is not None:
            text = f"The champion went back from v{went_back_from} to reward model v{data.version}."
            return text, "warning"
        case RewardModelPublished():
            return (
                f"Reward model v{data.version} is the champion: {data.labels} labels, held-out "
                f"accuracy {data.heldout_accuracy:.0%} of {data.heldout_pairs} pairs.",
                "info",
            )
        case RewardModelRejected():
            return f"Rejected {data.candidate_id}: {'; '.join(data.reasons)}.", "info"
        case DeadLetter():
            return (
                f"{data.consumer} gave up {data.event_id} after {data.attempts} "
                f"{'try' if data.attempts == 1 else 'tries'}: {data.reason}. {data.detail}",
                "warning",
            )
    return type(data).__name__, "info"


def outage_sentence(news: FailingJudge | Recovery, call: JudgeCall) -> tuple[str, Level]:
    """That a judge's language model does not answer, or answers again."""
    if isinstance(news, FailingJudge):
        text = f"The {news.judge} judge gets no answer from {call.model} ({news.route}): "
        return text + f"{news.calls} calls in a row ended with {news.outcome}.", "warning"
    seconds = (call.at - news.since).total_seconds()
    text = f"The {news.judge} judge gets answers again, after {news.calls} calls without one"
    return f"{text} in {seconds:.0f} s.", "info"


def _scored(data: SegmentScored) -> str:
    if data.weighted is None:
        return f"Judges gave segment {data.segment_id} no score: too few criteria were judged."
    without = f", without {', '.join(data.abstained)}" if data.abstained else ""
    return f"Judges gave segment {data.segment_id} {data.weighted:.2f}{without}."
