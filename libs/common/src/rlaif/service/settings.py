"""The settings that every service has, and how a settings class describes itself.

A value is looked for on the command line, then in the environment, then in the default. Settings
that all services share have one name everywhere (`NATS_URL`); a service's own settings carry its
prefix (`JUDGE_PORT`). A shared setting can be overridden for one service by the prefixed name
(`JUDGE_LOG_LEVEL`) when the plain name is not set.
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["json", "text"]


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _unset_when_blank(token: SecretStr | None) -> SecretStr | None:
    # Compose files pass unset variables on as empty ones; an empty token must not admit anybody.
    return token if token is not None and token.get_secret_value().strip() else None


class ServiceSettings(BaseSettings):
    """Base of every service's settings.

    A subclass sets `model_config = SettingsConfigDict(env_prefix="JUDGE_")`, gives `port` its
    default and adds its own fields, each with a description that says unit and effect.
    """

    model_config = SettingsConfigDict(
        env_prefix="RLAIF_", frozen=True, populate_by_name=True, extra="forbid"
    )

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on; 0.0.0.0 opens the service to the network.",
    )
    port: int = Field(
        default=8080, ge=0, le=65535, description="TCP port to listen on; 0 takes a free one."
    )
    nats_url: str = Field(
        default="nats://127.0.0.1:4222",
        validation_alias="NATS_URL",
        description="NATS server, with user and password inside when it asks for them.",
        repr=False,
    )
    s3_endpoint_url: str = Field(
        default="http://127.0.0.1:9000",
        validation_alias="S3_ENDPOINT_URL",
        description="S3 endpoint; empty for AWS itself.",
    )
    s3_access_key: str = Field(
        default="",
        validation_alias="S3_ACCESS_KEY",
        description="S3 access key; empty to take the platform's own (role, token file).",
    )
    s3_secret_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias="S3_SECRET_KEY",
        description="S3 secret key; empty together with the access key.",
    )
    s3_region: str = Field(
        default="us-east-1",
        validation_alias="S3_REGION",
        description="S3 region; most servers other than AWS accept any.",
    )
    episodes_store: str = Field(
        default="s3://zelda-episodes",
        validation_alias="EPISODES_STORE",
        description="Where captures, segments and scores are: s3://bucket or file:///path.",
    )
    models_store: str = Field(
        default="s3://zelda-models",
        validation_alias="MODELS_STORE",
        description="Where checkpoints and reward models are: s3://bucket or file:///path.",
    )
    api_token: Annotated[SecretStr | None, AfterValidator(_unset_when_blank)] = Field(
        default=None,
        validation_alias="RLAIF_API_TOKEN",
        description="Bearer token that every write needs; without one only a service on a "
        "loopback address accepts writes.",
    )
    log_level: Annotated[LogLevel, BeforeValidator(_lower)] = Field(
        default="info",
        validation_alias="LOG_LEVEL",
        description="Least level that is logged; debug also logs probes and scrapes.",
    )
    log_format: Annotated[LogFormat, BeforeValidator(_lower)] = Field(
        default="json",
        validation_alias="LOG_FORMAT",
        description="json for machines (one object a line), text for people.",
    )

    @classmethod
    def service_name(cls) -> str:
        """The service's name from its prefix: `REWARD_MODEL_` gives `reward-model`."""
        return str(cls.model_config["env_prefix"]).rstrip("_").lower().replace("_", "-")


@dataclass(frozen=True)
class FieldDoc:
    """One setting, for `--help` and for the generated configuration page.

    Attributes:
        name: Field name in Python.
        option: Command-line option.
        environment: Environment variable.
        default: Default as text; `unset` for None, `hidden` for a secret that has one.
        description: Unit and effect.
        shared: True when all services read the same variable.
        secret: True when the value must never be printed.
        kind: `flag`, `text`, or `data` (given as JSON).
    """

    name: str
    option: str
    environment: str
    default: str
    description: str
    shared: bool
    secret: bool
    kind: Literal["flag", "text", "data"]


def describe(settings_class: type[ServiceSettings]) -> list[FieldDoc]:
    """Every setting of a class, in order of declaration: the service's own ones last."""
    return [
        _describe(settings_class, name, field)
        for name, field in settings_class.model_fields.items()
    ]


def _describe(settings_class: type[ServiceSettings], name: str, field: FieldInfo) -> FieldDoc:
    secret = "SecretStr" in str(field.annotation)
    alias = field.validation_alias
    prefix = str(settings_class.model_config["env_prefix"])
    return FieldDoc(
        name=name,
        option="--" + name.replace("_", "-"),
        environment=alias if isinstance(alias, str) else f"{prefix}{name}".upper(),
        default=_default_text(field, secret=secret),
        description=field.description or "",
        shared=isinstance(alias, str) and name in ServiceSettings.model_fields,
        secret=secret,
        kind=_kind(field.annotation),
    )


def _default_text(field: FieldInfo, *, secret: bool) -> str:
    if field.is_required():
        return "none, must be given"
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value == "":
        return "unset"
    if secret:
        return "hidden"
    return json.dumps(value) if isinstance(value, list | tuple | dict) else str(value)


def _kind(annotation: Any) -> Literal["flag", "text", "data"]:
    if annotation is bool:
        return "flag"
    text = str(annotation)
    structured = any(word in text for word in ("tuple[", "list[", "dict[", "set["))
    return "data" if structured else "text"
