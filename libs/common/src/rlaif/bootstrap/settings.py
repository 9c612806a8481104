"""Settings of the bootstrap."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import SettingsConfigDict

from rlaif.service.settings import INTERNAL, SharedSettings


class BootstrapSettings(SharedSettings):
    """Creates streams, consumers and buckets before the services start; safe to repeat."""

    model_config = SettingsConfigDict(env_prefix="BOOTSTRAP_")

    # Environment variables are strings, which a Literal of numbers does not accept.
    nats_stream_replicas: Annotated[Literal[1, 3, 5], BeforeValidator(int)] = Field(
        default=1,
        validation_alias="NATS_STREAM_REPLICAS",
        description="Replicas of each stream: 1, 3 or 5, at most the number of NATS servers. More "
        "replicas tolerate the loss of more servers; publishing takes longer.",
    )
    nats_stream_mib: int = Field(
        default=160,
        ge=1,
        le=1_000_000,
        validation_alias="NATS_STREAM_MIB",
        description="Size of a busy stream, in MiB; all streams together reserve 4.75 times this "
        "on each server with replicas. Smaller streams drop handled events earlier.",
    )
    timeout_seconds: float = Field(default=300.0, gt=0, json_schema_extra=INTERNAL)
    """Timeout for NATS and S3 to become ready."""
