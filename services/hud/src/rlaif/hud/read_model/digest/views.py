"""The JSON of the digest."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from rlaif.hud.read_model.view import View

Kind = Literal[
    "model taken back", "judges silent", "milestone reached", "play changed", "model passed",
    "model chosen", "events given up", "run begun", "judges answer again", "model pays",
    "candidate refused", "segments scored", "play", "judges agreed", "screen taken over",
    "nothing", "unknown",
]  # fmt: skip


class LinkView(View):
    """Where the page shows it."""

    href: str = Field(description="Path of the page, with its query.")
    label: str


class DigestSentence(View):
    """One sentence, and what it is about."""

    kind: Kind
    tone: Literal["info", "warning"] = "info"
    text: str = Field(description="Words of people and programs; not of a language model.")
    at: datetime | None = Field(
        description="When it happened, or the newest of it did; null when nothing did."
    )
    age_seconds: float | None = Field(ge=0, description="`at` until the digest's own `at`.")
    link: LinkView


class DigestView(View):
    """The last hour in at most five sentences, the most important one first."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "at": "2026-11-20T12:00:00Z",
                    "since": "2026-11-20T11:00:00Z",
                    "run_id": "run-1",
                    "heard_since": None,
                    "text": "Reward model v5 passed the gate (held-out accuracy 74 % of 240 pairs) "
                    "and pays since step 58,500 (12 min ago).",
                    "sentences": [
                        {
                            "kind": "model passed",
                            "tone": "info",
                            "text": "Reward model v5 passed the gate (held-out accuracy 74 % of "
                            "240 pairs) and pays since step 58,500.",
                            "at": "2026-11-20T11:48:00Z",
                            "age_seconds": 720,
                            "link": {"href": "/models/5", "label": "v5"},
                        }
                    ],
                }
            ]
        },
    )

    at: datetime
    since: datetime
    run_id: str | None = Field(description="Of which milestones, play and scores are.")
    heard_since: datetime | None = Field(
        description="When this HUD started, if that was later than `since`: silent judges and "
        "screens are not kept, and not known from before."
    )
    text: str = Field(description="All sentences, each with its age.")
    sentences: tuple[DigestSentence, ...]
