"""The settings that every service has, in blocks or not, and what each is called from outside.

A value is looked for on the command line, then in the environment, then in the default. Settings
that all services share have one name everywhere (`NATS_URL`); a service's own settings carry its
prefix (`JUDGE_PORT`). A shared setting can be overridden for one service by the prefixed name
(`JUDGE_LOG_LEVEL`) when the plain name is not set.

A field that is a frozen pydantic model or dataclass is a block: the domain takes it as it is. From
outside there are no blocks: `shaping: ShapingSettings` with a field `weight` is the setting
`shaping_weight`, so `TRAINER_SHAPING_WEIGHT` and `--shaping-weight`. `Block` changes those names.

    python            settings.shaping.weight
    flat name         shaping_weight            in options, overrides, stored settings, documents
    variable, option  TRAINER_SHAPING_WEIGHT    --shaping-weight
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr
from pydantic.dataclasses import is_pydantic_dataclass
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from rlaif.network.nats_url import DEFAULT_SERVER, parse_nats_url

INTERNAL: dict[str, Any] = {"scope": "internal"}
"""Mark of a field that only Python sets: `Field(…, json_schema_extra=INTERNAL)`. It is a constant
with a place, no setting: no variable, no option, no line in the documentation."""

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["json", "text"]


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _valid_nats_url(url: str) -> str:
    parse_nats_url(url)
    return url


def _unset_when_blank(token: SecretStr | None) -> SecretStr | None:
    # Compose files pass unset variables on as empty ones; an empty token must not admit anybody.
    return token if token is not None and token.get_secret_value().strip() else None


class SharedSettings(BaseSettings):
    """Base of the settings of every program: how to reach NATS and the stores, and how to log."""

    model_config = SettingsConfigDict(
        env_prefix="RLAIF_",
        frozen=True,
        populate_by_name=True,
        extra="forbid",
        hide_input_in_errors=True,
    )

    nats_url: Annotated[str, AfterValidator(_valid_nats_url)] = Field(
        default=DEFAULT_SERVER,
        validation_alias="NATS_URL",
        description="NATS server, `nats://user:password@host:4222`, or with `token@`; several of "
        "one cluster with commas between. Credentials are percent-decoded: write % as %25.",
        repr=False,
    )
    nats_ca_file: str = Field(
        default="",
        validation_alias="NATS_CA_FILE",
        description="PEM file of the authorities that may vouch for NATS; given, or with a tls:// "
        "URL, nothing is sent without TLS. Empty for those of the system.",
    )
    nats_manage_streams: bool = Field(
        default=True,
        validation_alias="NATS_MANAGE_STREAMS",
        description="Whether a service makes missing streams and consumers, and drops handled "
        "events of a full stream. False where `python -m rlaif.bootstrap` does that: the service "
        "then needs no right to, and says in /readyz what is missing.",
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
    s3_ca_file: str = Field(
        default="",
        validation_alias="S3_CA_FILE",
        description="PEM file of the authorities that may vouch for an https:// endpoint; empty "
        "for those that come with the client.",
    )
    s3_region: str = Field(
        default="us-east-1",
        validation_alias="S3_REGION",
        description="S3 region; most servers other than AWS accept any.",
    )
    episodes_store: str = Field(
        default="s3://zelda-episodes",
        validation_alias="EPISODES_STORE",
        description="Where captures, segments and scores are: s3://bucket, file:///path or /path.",
    )
    models_store: str = Field(
        default="s3://zelda-models",
        validation_alias="MODELS_STORE",
        description="Where checkpoints and reward models are: s3://bucket, file:///path or /path.",
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
        """The program's name from its prefix: `REWARD_MODEL_` gives `reward-model`."""
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
        """What is given in Python, nested or by flat names; then the environment."""
        given = nested(cls, init_settings())
        return InitSettingsSource(settings_cls, given), EnvironmentSource(settings_cls)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """See that the settings can be told apart from outside."""
        super().__pydantic_init_subclass__(**kwargs)
        settings = describe(cls)
        names = Counter(name for each in settings for name in (each.name, *each.variables))
        names.update({each.path[0] for each in settings if len(each.path) > 1})
        twice = sorted(name for name, count in names.items() if count > 1)
        if twice:
            raise TypeError(f"{cls.__name__}: more than one setting is called {', '.join(twice)}")


@dataclass(frozen=True)
class Block:
    """What the settings of a block are called from outside: `Annotated[PpoSettings, Block("")]`.

    Attributes:
        prefix: Of their flat names; None for the block's own name and a `_`.
        names: Field of the block → its whole flat name, for those without the prefix.
        unprefixed: Fields of the block whose variable lacks the service's prefix.
    """

    prefix: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    unprefixed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Setting:
    """One value that can be set, and what it is called.

    The first of `variables` that is set counts; a `shared` one is read by all services.
    """

    name: str
    path: tuple[str, ...]
    variables: tuple[str, ...]
    field: FieldInfo
    shared: bool
    internal: bool = False

    @property
    def option(self) -> str:
        """Command-line option."""
        return "--" + self.name.replace("_", "-")

    @property
    def environment(self) -> str:
        """The environment variable that is documented."""
        return self.variables[0]

    @property
    def description(self) -> str:
        """Unit and effect."""
        return self.field.description or ""

    @property
    def default(self) -> Any:
        """What counts when nothing is set."""
        return self.field.get_default(call_default_factory=True, validated_data={})

    @property
    def default_text(self) -> str:
        """The default for people: `unset` for None, `hidden` for a secret that has one."""
        if self.field.is_required():
            return "none, must be given"
        value = self.default
        secret = isinstance(value, SecretStr)
        if (value.get_secret_value() if secret else value) in (None, ""):
            return "unset"
        if secret:
            return "hidden"
        return json.dumps(value) if isinstance(value, list | tuple | dict) else str(value)


@cache
def describe(settings_class: type[SharedSettings]) -> tuple[Setting, ...]:
    """Every setting of a class, in order of declaration: the service's own ones last."""
    return tuple(each for each in fields_of(settings_class) if not each.internal)


@cache
def fields_of(settings_class: type[SharedSettings]) -> tuple[Setting, ...]:
    """The settings and the internal fields."""
    return tuple(_settings(settings_class))


def flat_values(settings: SharedSettings) -> dict[str, Any]:
    """Flat name → value of every setting and internal field; the class takes it back."""
    found = fields_of(type(settings))
    return {each.name: attrgetter(".".join(each.path))(settings) for each in found}


def nested(settings_class: type[SharedSettings], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values as the class has them: those by the flat name of a block's field go into the block.

    Raises:
        SettingsError: A block is given whole, and one of its fields beside it.
    """
    inside = {each.name: each.path for each in fields_of(settings_class) if len(each.path) > 1}
    found = {name: value for name, value in given.items() if name not in inside}
    for name in given.keys() & inside:
        block, leaf = inside[name]
        values = found.get(block, {})
        if not isinstance(values, dict) or leaf in values:
            raise SettingsError(f"{name} is given twice, by itself and in {block}")
        found[block] = values | {leaf: given[name]}
    return found


class EnvironmentSource(PydanticBaseSettingsSource):
    """Reads each setting from its variables, whatever block it is in."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Never called: only the sources of pydantic ask field by field."""
        raise NotImplementedError

    def __call__(self) -> dict[str, Any]:
        """The values that are set, nested as the class has them."""
        settings_class = cast(type[SharedSettings], self.settings_cls)
        environment = {name.upper(): value for name, value in os.environ.items()}
        found = {}
        for setting in describe(settings_class):
            variable = next((name for name in setting.variables if name in environment), None)
            if variable is not None:
                key = str(setting.field.validation_alias or setting.name)
                found[key] = self._decoded(setting, variable, environment[variable])
        return nested(settings_class, found)

    def _decoded(self, setting: Setting, variable: str, text: str) -> Any:
        if not self.field_is_complex(setting.field):
            return text
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise SettingsError(f"{setting.name}: {variable} is not JSON: {error}") from error


def _settings(settings_class: type[SharedSettings]) -> Iterator[Setting]:
    service = str(settings_class.model_config["env_prefix"]).upper()
    shared = _shared_fields(settings_class)
    for name, info in settings_class.model_fields.items():
        kind: Any = info.annotation
        fields = _fields_of_block(kind)
        if fields is None:
            setting = _setting(service, name, (name,), info, alias=info.validation_alias)
            setting = replace(setting, internal=_is_internal(info))
            yield replace(setting, shared=name in shared and info.validation_alias is not None)
            continue
        if info.get_default(call_default_factory=True, validated_data={}) != kind():
            raise TypeError(f"{name}: a block's defaults are those of its fields, set no other one")
        block = next((each for each in info.metadata if isinstance(each, Block)), Block())
        prefix = f"{name}_" if block.prefix is None else block.prefix
        for leaf, leaf_info in fields.items():
            flat = block.names.get(leaf, f"{prefix}{leaf}")
            alias = flat.upper() if leaf in block.unprefixed else None
            setting = _setting(service, flat, (name, leaf), leaf_info, alias=alias)
            yield replace(setting, internal=_is_internal(info) or _is_internal(leaf_info))


def _setting(
    service: str, name: str, path: tuple[str, ...], info: FieldInfo, *, alias: Any
) -> Setting:
    own = f"{service}{name.upper()}"
    variables = tuple(dict.fromkeys((alias, own) if isinstance(alias, str) else (own,)))
    return Setting(name, path, variables, info, shared=False)


def _is_internal(info: FieldInfo) -> bool:
    extra = info.json_schema_extra
    return isinstance(extra, dict) and extra.get("scope") == "internal"


def _shared_fields(settings_class: type[SharedSettings]) -> set[str]:
    """Fields that the bases of this module bring."""
    bases = [each for each in settings_class.__mro__ if issubclass(each, SharedSettings)]
    return {name for each in bases if each.__module__ == __name__ for name in each.model_fields}


def _fields_of_block(kind: Any) -> dict[str, FieldInfo] | None:
    if not isinstance(kind, type):
        return None
    if is_pydantic_dataclass(kind):
        return kind.__pydantic_fields__
    return kind.model_fields if issubclass(kind, BaseModel) else None


# Last, because a class of settings is described when it is made.
class ServiceSettings(SharedSettings):
    """Base of every service's settings.

    A subclass sets `model_config = SettingsConfigDict(env_prefix="JUDGE_")`, gives `port` its
    default and adds its own fields, each with a description that says unit and effect.
    """

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on; 0.0.0.0 opens the service to the network.",
    )
    port: int = Field(
        default=8080, ge=0, le=65535, description="TCP port to listen on; 0 takes a free one."
    )
    api_token: Annotated[SecretStr | None, AfterValidator(_unset_when_blank)] = Field(
        default=None,
        validation_alias="RLAIF_API_TOKEN",
        description="Bearer token that every write needs; without one only a service on a "
        "loopback address accepts writes.",
    )
