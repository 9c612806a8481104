"""Settings of the bootstrap."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import SettingsConfigDict

from rlaif.service.settings import INTERNAL, SharedSettings


class BootstrapSettings(SharedSettings):
    """Makes streams, consumers and buckets before the services start; safe to run again."""

    model_config = SettingsConfigDict(env_prefix="BOOTSTRAP_")

    # The environment holds texts, and none of these numbers is one.
    nats_stream_replicas: Annotated[Literal[1, 3, 5], BeforeValidator(int)] = Field(
        default=1,
        validation_alias="NATS_STREAM_REPLICAS",
        description="Servers that hold a copy of each stream: 1, 3 or 5, at most as many as there "
        "are. More survive the loss of more servers, and a publish takes longer.",
    )
    nats_stream_mib: int = Field(
        default=160,
        ge=1,
        le=1_000_000,
        validation_alias="NATS_STREAM_MIB",
        description="Room of a busy stream, in MiB; all streams together reserve 4.75 times this "
        "on each server that holds copies. Less drops handled events earlier.",
    )
    timeout_seconds: float = Field(default=300.0, gt=0, json_schema_extra=INTERNAL)
    """How long NATS and S3 are waited for before the bootstrap gives up."""
