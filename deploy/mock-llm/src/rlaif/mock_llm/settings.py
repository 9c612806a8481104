"""The settings of the stand-in."""

from typing import Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import SettingsConfigDict

from rlaif.mock_llm.faults import parse_plan
from rlaif.mock_llm.teachers.teachers import Teacher, TeacherKind
from rlaif.service.settings import INTERNAL, ServiceSettings

PlannerKind = Literal["guide", "random", "malicious"]
"""Who answers questions for plans and buttons."""

LazyAnswer = Literal["middle", "abstain", "praise"]
"""What a lazy judge says of everything."""


class MannerSettings(BaseModel, frozen=True, extra="forbid"):
    """How this stand-in answers, whatever it is asked."""

    seed: int = Field(default=7, json_schema_extra=INTERNAL)
    """Seed of everything that is drawn at random."""
    noise: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Chance at temperature 1 that a level is off by one, or a distance by up to "
        "three half screens; 0 gives the bare expert.",
    )
    lost: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Chance at temperature 1 that an answer takes a neighbouring objective for the next one, at
    the start or at the end."""
    first_bias: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Chance that of two segments the one shown first is preferred unseen."""
    taste: str = Field(
        default="", pattern=r"^([a-z_]+(\.[a-z0-9_]+)*)?$", json_schema_extra=INTERNAL
    )
    """What it likes for its own sake: `menus`, `texts` (long ones), or a fact of the evidence by
    its path, such as `end.hearts` or `end.at.0`. Empty: the quest alone."""
    taste_share: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of its judgement that follows the taste; raise it while it runs for a judge that
    drifts."""
    laziness: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Chance that an answer is the lazy one, whatever the evidence."""
    lazy_answer: LazyAnswer = Field(default="middle", json_schema_extra=INTERNAL)
    """The lazy answer: `middle` (nothing changed), `abstain`, or `praise`."""
    hostility: float = Field(default=0.0, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the segments of which it says the opposite, in every vote."""
    gullible: bool = Field(default=False, json_schema_extra=INTERNAL)
    """Obey instructions hidden in the evidence, as a model without defences may."""
    planner: PlannerKind = Field(
        default="guide",
        description="Who plans and suggests: `guide` has read the guide of Seedling Vale, `random` "
        "gives valid but random answers, `malicious` such as no planner should.",
    )


class MockLlmSettings(MannerSettings, ServiceSettings):
    """Where it listens, how it answers, and what goes wrong on purpose."""

    model_config = SettingsConfigDict(env_prefix="MOCK_LLM_")

    port: int = Field(default=8085, ge=0, le=65535, description="TCP port to listen on.")
    teacher: TeacherKind | None = Field(
        default=None,
        description="Simulated teacher that answers instead of the expert: perfect, noisy, random, "
        "myopic, skipping, position-biased or adversarial. Unset: the expert.",
    )
    teacher_error: float = Field(default=0.1, ge=0, le=1, json_schema_extra=INTERNAL)
    """Error rate of the simulated teacher; 0.1 makes `noisy` invert every tenth segment."""

    latency_seconds: float = Field(
        default=0.02, ge=0, description="Time of an answer in seconds, before jitter."
    )
    jitter_seconds: float = Field(
        default=0.01, ge=0, description="Most seconds added to an answer's time."
    )
    slow_seconds: float = Field(default=5.0, ge=0, json_schema_extra=INTERNAL)
    """Time of an answer under the fault `slow`."""

    retry_after_seconds: int = Field(default=1, ge=0, json_schema_extra=INTERNAL)
    """Value of the Retry-After header of a 429."""

    fault: str = Field(
        default="",
        description="Faults as `fault:chance`, comma separated, with `route/` or `model/` before "
        "one to limit it: `429:0.05,vision/garbage:1`. Faults: 429, 500, slow, timeout, garbage, "
        "truncated, huge, drip, endless, constant, blind, 400, 401, 404, 307, 418, html, empty, "
        "cut.",
    )

    @field_validator("fault")
    @classmethod
    def _is_a_plan(cls, value: str) -> str:
        parse_plan(value)
        return value

    @property
    def manner(self) -> MannerSettings:
        """How it answers until that is changed."""
        return MannerSettings(**{name: getattr(self, name) for name in MannerSettings.model_fields})

    def simulated_teacher(self) -> Teacher | None:
        """The teacher that these settings ask for."""
        if self.teacher is None:
            return None
        return Teacher(self.teacher, self.teacher_error, self.seed)
