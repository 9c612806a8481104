"""The settings of the mock LLM."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import SettingsConfigDict

from rlaif.mock_llm.faults import parse_plan
from rlaif.service.settings import INTERNAL, ServiceSettings

LazyAnswer = Literal["middle", "abstain", "praise"]
"""The constant answer of a lazy judge."""


class Behaviour(BaseModel, frozen=True, extra="forbid"):
    """Deviations of a judge of the mock LLM from the expert."""

    seed: int = Field(default=7, json_schema_extra=INTERNAL)
    """Seed of all random numbers."""
    noise: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Probability at temperature 1 that a level is off by one, or a distance by up "
        "to three half screens. 0: the expert's own opinion.",
    )
    taste: str = Field(
        default="", pattern=r"^([a-z_]+(\.[a-z0-9_]+)*)?$", json_schema_extra=INTERNAL
    )
    """Preference besides the quest: `menus`, `texts` (long ones), or the path of a fact of the
    evidence, such as `end.hearts` or `end.at.0`."""
    taste_share: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Weight of the taste."""
    laziness: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Probability that an answer is the lazy one, regardless of the evidence."""
    lazy_answer: LazyAnswer = Field(default="middle", json_schema_extra=INTERNAL)
    """The lazy answer: `middle` (nothing changed), `abstain`, or `praise`."""
    hostility: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the segments for which every vote is inverted."""
    gullible: bool = Field(default=False, json_schema_extra=INTERNAL)
    """Obey instructions hidden in the evidence, to simulate prompt injection."""


class MockLlmSettings(Behaviour, ServiceSettings):
    """Settings of the mock LLM."""

    model_config = SettingsConfigDict(env_prefix="MOCK_LLM_")

    worlds_dir: Path = Field(
        default=Path("var/worlds"),
        validation_alias="WORLDS_DIR",
        description="Folder of generated worlds, each with a file such as `world-7-30/world.json`; "
        "in other worlds, the expert abstains.",
    )
    port: int = Field(default=8085, ge=0, le=65535, description="TCP port to listen on.")
    latency_seconds: float = Field(
        default=0.02, ge=0, description="Duration of an answer in seconds, before jitter."
    )
    jitter_seconds: float = Field(
        default=0.01, ge=0, description="Maximum random addition to it, in seconds."
    )
    retry_after_seconds: int = Field(default=1, ge=0, json_schema_extra=INTERNAL)
    """Value of the Retry-After header of a 429."""
    fault: str = Field(
        default="",
        description="Faults as `fault:probability`, separated by commas; `route/` or `model/` "
        "before a fault limits it: `429:0.05,vision/garbage:1`. Faults: 429, 500, timeout, "
        "garbage, truncated, huge, drip, blind, 400, 401, 307, 418, html, cut.",
    )

    @field_validator("fault")
    @classmethod
    def _is_a_plan(cls, value: str) -> str:
        parse_plan(value)
        return value

    @property
    def behaviour(self) -> Behaviour:
        """Deviations from the expert."""
        return Behaviour(**{name: getattr(self, name) for name in Behaviour.model_fields})
