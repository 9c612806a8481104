"""The settings of the stand-in."""

from typing import Annotated

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import SettingsConfigDict

from rlaif.mock_llm.faults import parse_plan
from rlaif.mock_llm.teachers.teachers import Teacher, TeacherKind
from rlaif.service.settings import Block, ServiceSettings


class MannerSettings(BaseModel, frozen=True, extra="forbid"):
    """How this stand-in answers, whatever it is asked."""

    seed: int = Field(default=7, description="Seed of the noise and of the order of faults.")
    noise: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Chance at temperature 1 that a level is off by one; 0 gives the bare rules.",
    )
    gullible: bool = Field(
        default=False,
        description="Obey instructions hidden in the evidence, as a model without defences may.",
    )


class TeacherSettings(BaseModel, frozen=True, extra="forbid"):
    """Who answers instead of the rules."""

    kind: TeacherKind | None = Field(
        default=None,
        description="A simulated teacher instead of the noise: perfect, noisy, random, myopic, "
        "skipping, position-biased or adversarial. Unset: rules and noise.",
    )
    error: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="How much the simulated teacher errs; 0.1 makes `noisy` tell the opposite of "
        "every tenth segment.",
    )


class MockLlmSettings(ServiceSettings):
    """Where it listens, how it answers, and what goes wrong on purpose."""

    model_config = SettingsConfigDict(env_prefix="MOCK_LLM_")

    port: int = Field(default=8085, ge=0, le=65535, description="TCP port to listen on.")
    manner: Annotated[MannerSettings, Block(prefix="")] = MannerSettings()
    simulated: Annotated[TeacherSettings, Block(prefix="teacher_", names={"kind": "teacher"})] = (
        TeacherSettings()
    )
    latency_seconds: float = Field(
        default=0.02, ge=0, description="Time of an answer in seconds, before jitter."
    )
    jitter_seconds: float = Field(
        default=0.01, ge=0, description="Most seconds added to an answer's time."
    )
    slow_seconds: float = Field(
        default=5.0, ge=0, description="Time of an answer in seconds under the fault `slow`."
    )
    retry_after_seconds: int = Field(
        default=1, ge=0, description="What a 429 asks for in its Retry-After header, in seconds."
    )
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

    def simulated_teacher(self) -> Teacher | None:
        """The teacher that these settings ask for."""
        if self.simulated.kind is None:
            return None
        return Teacher(self.simulated.kind, self.simulated.error, self.manner.seed)
