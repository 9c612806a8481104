"""The settings shared by all programs, and the naming rules of settings.

pydantic-settings implements the rules. The field `port` of the judge is the variable `JUDGE_PORT`
and the option `--port`; the field `weight` of the trainer's block `shaping` is
`TRAINER_SHAPING_WEIGHT` and `--shaping.weight`. Names used by several programs or the platform have
no prefix: `NATS_URL`, `BATCH_SIZE`. They are fields with a `validation_alias`; if such a name is
not set, the one with the prefix is used, such as `JUDGE_LOG_LEVEL`.

Settings that are stored, printed or set in Python have flat names, `port` and `shaping_weight`.
An option overrides its variable, which overrides the default.
"""

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from rlaif.network.nats_url import DEFAULT_SERVER, parse_nats_url

INTERNAL: dict[str, Any] = {"scope": "internal"}
"""Mark of a field that is set in Python only: `Field(…, json_schema_extra=INTERNAL)`. It has no
variable and no option, and is not documented."""

PER_SERVICE: dict[str, Any] = {"scope": "service"}
"""Mark of a setting that is equal for all runs of a trainer."""

_OF_KUBERNETES = re.compile(r"_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP)(_\w+)?)$")
"""Variables that Kubernetes adds to a pod for each Service."""

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["json", "text"]


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _valid_nats_url(url: str) -> str:
    parse_nats_url(url)
    return url


def _unset_when_blank(token: SecretStr | None) -> SecretStr | None:
    # Compose files pass unset variables as empty ones; an empty token must not grant access.
    return token if token is not None and token.get_secret_value().strip() else None


def _shared(variable: str, default: Any, description: str, **options: Any) -> Any:
    """A setting whose variable has no prefix, equal for all runs of a trainer."""
    return Field(
        default=default,
        validation_alias=variable,
        description=description,
        json_schema_extra=PER_SERVICE,
        **options,
    )


class SharedSettings(BaseSettings):
    """Base class of the settings of all programs: NATS, stores and logging."""

    model_config = SettingsConfigDict(
        env_prefix="RLAIF_",
        env_nested_delimiter="_",
        env_nested_max_split=1,
        frozen=True,
        populate_by_name=True,
        extra="forbid",
        hide_input_in_errors=True,
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_hide_none_type=True,
        cli_avoid_json=True,
        cli_parse_none_str="null",
        cli_show_env_vars=True,
    )

    renamed: ClassVar[Mapping[str, str]] = {}
    """Variables of earlier releases → current names."""

    nats_url: Annotated[str, AfterValidator(_valid_nats_url)] = _shared(
        "NATS_URL",
        DEFAULT_SERVER,
        "NATS server: `nats://user:password@host:4222`, or with `token@`. Separate several servers "
        "of one cluster with commas. Credentials are percent-decoded: write % as %25.",
        repr=False,
    )
    nats_ca_file: str = _shared(
        "NATS_CA_FILE",
        "",
        "PEM file with the certificate authorities of NATS. If it is set, or the URL starts with "
        "tls://, TLS is required. Empty: the authorities of the system.",
    )
    nats_manage_streams: bool = _shared(
        "NATS_MANAGE_STREAMS",
        True,
        "Whether services create missing streams and consumers, and purge processed events from "
        "full streams. If false, `python -m rlaif.bootstrap` does that; the service then needs no "
        "admin permissions and reports missing streams in /readyz.",
    )
    s3_endpoint_url: str = _shared(
        "S3_ENDPOINT_URL", "http://127.0.0.1:9000", "S3 endpoint. Empty: AWS."
    )
    s3_access_key: str = _shared(
        "S3_ACCESS_KEY",
        "",
        "S3 access key. Empty: the credentials of the platform (role, token file).",
    )
    s3_secret_key: SecretStr = _shared(
        "S3_SECRET_KEY", SecretStr(""), "S3 secret key; leave it empty if the access key is."
    )
    s3_ca_file: str = _shared(
        "S3_CA_FILE",
        "",
        "PEM file with the certificate authorities of an https:// endpoint. Empty: those of the "
        "client.",
    )
    s3_region: str = _shared(
        "S3_REGION", "us-east-1", "S3 region; most servers other than AWS accept any."
    )
    episodes_store: str = _shared(
        "EPISODES_STORE",
        "s3://zelda-episodes",
        "Store of captures, segments and scores: s3://bucket, file:///path or /path.",
    )
    models_store: str = _shared(
        "MODELS_STORE",
        "s3://zelda-models",
        "Store of checkpoints and reward models: s3://bucket, file:///path or /path.",
    )
    log_level: Annotated[LogLevel, BeforeValidator(_lower)] = _shared(
        "LOG_LEVEL", "info", "Minimum log level. debug also logs health probes and metric scrapes."
    )
    log_format: Annotated[LogFormat, BeforeValidator(_lower)] = _shared(
        "LOG_FORMAT", "json", "Log format: json (one object per line) or text."
    )

    @model_validator(mode="after")
    def _numbers_are_finite(self) -> Self:
        """Stored settings are JSON, which has no infinity."""
        for name, value in flat_values(self).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{name} is {value}: give a finite number")
        return self

    @classmethod
    def service_name(cls) -> str:
        """The program's name from its prefix: `reward-model` for `REWARD_MODEL_`."""
        return str(cls.model_config["env_prefix"]).rstrip("_").lower().replace("_", "-")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Values set in Python, nested or by flat names, override the environment."""
        _check_names(cls, os.environ)
        assert isinstance(env_settings, EnvSettingsSource), "pydantic's own"
        env_settings.env_vars = _without_blank(cls, env_settings.env_vars)
        return InitSettingsSource(settings_cls, nested(cls, init_settings())), env_settings


@dataclass(frozen=True)
class Setting:
    """One setting or internal field.

    Attributes:
        name: Flat name, as in stored settings.
        path: Attribute of the settings, or block and its attribute.
        environment: Environment variable.
        scope: INTERNAL, PER_SERVICE, a mark of the service, or None.
        shared: Whether it belongs to all programs.
    """

    name: str
    path: tuple[str, ...]
    environment: str
    field: FieldInfo
    scope: str | None
    shared: bool

    @property
    def option(self) -> str:
        return "--" + ".".join(self.path).replace("_", "-")

    @property
    def description(self) -> str:
        return self.field.description or ""

    @property
    def default(self) -> Any:
        return self.field.get_default(call_default_factory=True, validated_data={})

    @property
    def default_text(self) -> str:
        secret = isinstance(self.default, SecretStr)
        value = self.default.get_secret_value() if secret else self.default
        if value in (None, ""):
            return "unset"
        if secret:
            return "hidden"
        return json.dumps(value) if isinstance(value, list | tuple | dict) else str(value)


@cache
def fields_of(settings_class: type[SharedSettings]) -> tuple[Setting, ...]:
    """Every setting and internal field, in order of declaration."""
    return tuple(_fields(settings_class))


@cache
def describe(settings_class: type[SharedSettings]) -> tuple[Setting, ...]:
    """Every setting that users can set."""
    return tuple(each for each in fields_of(settings_class) if each.scope != "internal")


def flat_values(settings: SharedSettings) -> dict[str, Any]:
    """Flat name → value of every setting and internal field; the class accepts them again."""
    return {
        each.name: attrgetter(".".join(each.path))(settings) for each in fields_of(type(settings))
    }


def renamed(settings_class: type[SharedSettings], name: str) -> str:
    """The current flat name of a setting of an earlier release."""
    prefix = str(settings_class.model_config["env_prefix"])
    new = {flat(prefix, old): flat(prefix, new) for old, new in settings_class.renamed.items()}
    return new.get(name, name)


def stored(settings_class: type[SharedSettings], values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings stored by any release, by current flat name, without removed ones."""
    known = {each.name for each in fields_of(settings_class)}
    found = {renamed(settings_class, name): value for name, value in values.items()}
    return {name: value for name, value in found.items() if name in known}


def flat(prefix: str, variable: str) -> str:
    """The flat name of a variable of the service with that prefix."""
    return variable.removeprefix(prefix).lower()


def nested(settings_class: type[SharedSettings], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values in the structure of the class: those with flat names are moved into their block."""
    blocks = {each.name: each.path for each in fields_of(settings_class) if len(each.path) > 1}
    found: dict[str, Any] = {}
    for name, value in given.items():
        path = blocks.get(renamed(settings_class, name))
        if path is None:
            found[name] = value | found.get(name, {}) if isinstance(value, dict) else value
        else:
            block = found.setdefault(path[0], {})
            if not isinstance(block, dict):
                raise SettingsError(f"{name} is set twice, directly and in {path[0]}")
            block[path[1]] = value
    return found


def _check_names(settings_class: type[SharedSettings], environment: Mapping[str, str]) -> None:
    """Reject variables that were renamed, and unknown ones with the service's prefix."""
    prefix = str(settings_class.model_config["env_prefix"]).upper()
    known = [each.environment for each in describe(settings_class)]
    prefixed = {f"{prefix}{each.name.upper()}" for each in describe(settings_class)}
    for name in sorted(map(str.upper, environment)):
        if name in settings_class.renamed:
            raise SettingsError(f"{name} was renamed: set {settings_class.renamed[name]} instead")
        is_own = name.startswith(prefix) and settings_class.__module__ != __name__
        if is_own and name not in {*known, *prefixed} and not _OF_KUBERNETES.search(name):
            (closest,) = get_close_matches(name, known, n=1, cutoff=0)
            raise SettingsError(
                f"{name} is not a setting (any more): unset it. The closest name is {closest}; "
                "all are in docs/configuration.md"
            )


def _without_blank(
    settings_class: type[SharedSettings], variables: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Lower-case variables without those that are blank, which compose passes for unset ones.

    The empty text is a value of a string: `S3_ENDPOINT_URL` is then AWS. Line ends are removed: a
    Secret that was created from a file has one, and no token with one could be sent.
    """
    prefix = str(settings_class.model_config["env_prefix"])
    texts = {
        name.lower()
        for each in describe(settings_class)
        if each.field.annotation is str
        for name in (each.environment, f"{prefix}{each.name}")
    }
    return {
        name: value and value.rstrip("\r\n")
        for name, value in variables.items()
        if name in texts or value is None or value.strip()
    }


def _fields(settings_class: type[SharedSettings]) -> Iterator[Setting]:
    prefix = str(settings_class.model_config["env_prefix"]).upper()
    for name, info in settings_class.model_fields.items():
        alias = info.validation_alias
        if not _is_block(info.annotation):
            variable = alias if isinstance(alias, str) else f"{prefix}{name.upper()}"
            shared = name in ServiceSettings.model_fields and isinstance(alias, str)
            yield Setting(name, (name,), variable, info, _scope(info), shared)
            continue
        for leaf, leaf_info in cast(type[BaseModel], info.annotation).model_fields.items():
            scope = _scope(info) or _scope(leaf_info)
            variable = f"{prefix}{name}_{leaf}".upper()
            yield Setting(f"{name}_{leaf}", (name, leaf), variable, leaf_info, scope, shared=False)


def _scope(info: FieldInfo) -> str | None:
    extra = info.json_schema_extra
    return str(extra["scope"]) if isinstance(extra, dict) and "scope" in extra else None


def _is_block(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


class ServiceSettings(SharedSettings):
    """Base class of the settings of services; a subclass sets `env_prefix` and adds fields."""

    host: str = Field(
        default="127.0.0.1",
        json_schema_extra=PER_SERVICE,
        description="Address to listen on. 0.0.0.0 accepts connections from the network.",
    )
    port: int = Field(
        default=8080, ge=0, le=65535, description="TCP port to listen on; 0 selects a free one."
    )
    api_token: Annotated[SecretStr | None, AfterValidator(_unset_when_blank)] = _shared(
        "RLAIF_API_TOKEN",
        None,
        "Bearer token required for every write request. Unset: only services on a loopback address "
        "accept writes.",
    )
