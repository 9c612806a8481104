"""The JSON of the language models' page."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from rlaif.hud.read_model.view import View

User = Literal["judge", "planner"]


class LatencyBucket(View):
    """Calls that took longer than one edge, and not longer than the other."""

    from_seconds: float
    to_seconds: float | None = Field(description="Null: no upper edge.")
    calls: int


class RouteView(View):
    """One model behind one route, and how it answers."""

    user: User = Field(description="A judge of segments, or the planner that plays along.")
    name: str = Field(description="The judge, or the planner's route.")
    route: str
    model: str | None = Field(description="Null when nobody told.")
    calls: int = Field(
        description="Of a judge among the newest of all judges; of the planner over the run."
    )
    ok: int
    outcomes: dict[str, int]
    latency_p50_seconds: float | None = Field(description="Of calls that ended well.")
    latency_p95_seconds: float | None
    timed: int = Field(description="Calls that the latencies are of.")
    latencies: tuple[LatencyBucket, ...] | None = Field(
        description="Histogram of these calls, without a gap from the quickest to the slowest; the "
        "edges are the same for all routes. Null of no call."
    )
    tokens_read: int | None = Field(description="Null where the HUD is not told.")
    tokens_written: int | None
    last_at: datetime | None = Field(description="When the newest call ended that was told.")
    down: str | None = Field(description="Why it gives no answer now; null when it does.")


class CallView(View):
    """One call. What was said is a model's own words: show it as text only."""

    at: datetime
    user: User
    name: str
    route: str
    model: str | None
    outcome: str
    ok: bool
    latency_seconds: float | None
    segment_id: str | None = Field(description="What a judge was asked about.")
    episode_id: str | None = Field(description="Null when the HUD does not know the segment.")
    asked: str = Field(description="What for, in words.")
    said: str | None
    followed: bool | None = Field(description="Null for judges, and without a usable answer.")
    ending: str | None
    remedy: str | None = Field(description="What to do about it; null for a good call.")


class LlmView(View):
    """Routes, and the newest calls that went wrong."""

    window: int = Field(description="Newest calls of judges that are counted, at most.")
    latency_edges_seconds: tuple[float, ...] = Field(
        description="Of all histograms; before the first edge and after the last one is a bucket."
    )
    routes: tuple[RouteView, ...]
    errors: tuple[CallView, ...] = Field(description="Newest first.")


class CallsView(View):
    """The newest calls."""

    items: tuple[CallView, ...]
    kept: int = Field(description="Calls that the HUD remembers of those asked for.")
