"""Writes the reference pages that repeat what the code says.

Events, configuration, metrics, observation, the policy's input,
and what the services' user of NATS may do.

    python docs/generate.py            write the pages
    python docs/generate.py --check    exit 1 when a page differs from the code

Needs the packages installed (`make setup-dev`). Opens no connection.
"""

import argparse
import re
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from inspect import cleandoc
from os.path import normpath
from pathlib import Path
from runpy import run_path
from typing import Any

from fastapi import FastAPI

from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.bus.topology import MAX_DELIVER, TopologySettings, stream_config
from rlaif.contracts.catalog import CATALOG, STREAMS, EventSpec
from rlaif.contracts.events import CloudEvent, EventData
from rlaif.contracts.game.observation import LAYOUT, LAYOUT_VERSION, OBSERVATION_SIZE, Slot
from rlaif.contracts.model import ID_PATTERN, MAX_SECONDS, SHA256_PATTERN, Contract
from rlaif.contracts.telemetry.assistance import ModeFigures
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.contracts.telemetry.readings import (
    AssistanceStatus,
    DescriptionWish,
    EnvironmentsSeen,
    EnvironmentStands,
    JudgeCall,
    MapPosition,
    PaidSteps,
    PlayerCall,
    RewardBreakdown,
    RewardModelStatus,
    RunnerSign,
    ServiceHealth,
    Telemetry,
    TrainingProgress,
    WatchedPay,
    WatchWish,
    WorldProgress,
)
from rlaif.contracts.telemetry.world import RoomSeen
from rlaif.exporter.app import create_app as create_exporter
from rlaif.exporter.settings import ExporterSettings
from rlaif.game.policy_input.layout import INPUT_VERSION, POLICY_INPUT
from rlaif.game.policy_input.layout import SIZE as POLICY_INPUT_SIZE
from rlaif.hud.app import create_app as create_hud
from rlaif.hud.settings import HudSettings
from rlaif.judge.app import create_app as create_judge
from rlaif.judge.settings import JudgeSettings
from rlaif.mock_llm.app import create_app as create_mock_llm
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.reward_model.app import create_app as create_reward_model
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.servers.identities import nats_users, s3_script
from rlaif.service.metrics import MetricDoc, ServiceMetrics
from rlaif.service.settings import ServiceSettings, Setting, SharedSettings, describe
from rlaif.trainer.service.app import create_app as create_trainer
from rlaif.trainer.settings import TrainerSettings

HERE = Path(__file__).resolve().parent
sources_of: Callable[[str], tuple[str, ...]]
sources_of = run_path(str(HERE / "observation_sources.py"))["sources_of"]
NOTE = "<!-- Written by docs/generate.py from the code. Do not edit; see CONTRIBUTING.md. -->"

READINGS: tuple[type[Telemetry], ...] = (
    TrainingProgress,
    ServiceHealth,
    RewardModelStatus,
    RewardBreakdown,
    JudgeCall,
    PlayerCall,
    AssistanceStatus,
    MapPosition,
    WatchedPay,
    PaidSteps,
    EnvironmentsSeen,
    WorldProgress,
    WatchWish,
    DescriptionWish,
)

_MIB = 1024 * 1024


@dataclass(frozen=True)
class Service:
    """A program with settings and metrics.

    Attributes:
        settings: Its settings class.
        app: Builds its app from settings of that class; opens nothing.
    """

    settings: type[ServiceSettings]
    app: Callable[[Any], FastAPI]

    @property
    def name(self) -> str:
        """Such as `reward-model`."""
        return self.settings.service_name()


SERVICES = (
    Service(TrainerSettings, create_trainer),
    Service(ExporterSettings, create_exporter),
    Service(JudgeSettings, create_judge),
    Service(RewardModelSettings, create_reward_model),
    Service(HudSettings, create_hud),
    Service(MockLlmSettings, create_mock_llm),
)
"""In the order of the pipeline; the mock LLM last."""


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the pages; returns the exit code."""
    parser = argparse.ArgumentParser(
        description="Writes docs/events.md, configuration.md, metrics.md, observation.md, "
        "policy-input.md and, of NATS and S3, the users of deploy/."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a page is stale"
    )
    check = parser.parse_args(argv).check
    pages = {
        "events.md": events_page(),
        "configuration.md": configuration_page(),
        "metrics.md": metrics_page(),
        "observation.md": observation_page(),
        "policy-input.md": policy_input_page(),
        "../deploy/base/nats/users.conf": IDENTITIES_NOTE + nats_users(),
        "../deploy/components/s3-seaweedfs/identities.sh": IDENTITIES_NOTE + s3_script(),
        **benchmarks_page(),
    }
    if not check:
        for name, text in pages.items():
            (HERE / name).parent.mkdir(parents=True, exist_ok=True)
            (HERE / name).write_text(text, encoding="utf-8")
        return 0
    stale = [name for name, text in pages.items() if _stored(HERE / name) != text]
    if stale:
        listed = ", ".join(normpath(f"docs/{name}") for name in stale)
        sys.stderr.write(f"{listed}: not what the code says; run docs/generate.py and commit\n")
    return 1 if stale else 0


def _stored(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


# --- benchmarks -----------------------------------------------------------------------------------


def benchmarks_page() -> dict[str, str]:
    """benchmarks/README.md with marks of stale rows; nothing where that folder is missing."""
    folder = HERE.parent / "benchmarks"
    if not folder.exists():
        return {}
    stale = runpy.run_path(str(folder / "stale.py"))
    return {"../benchmarks/README.md": stale["marked"]((folder / "README.md").read_text("utf-8"))}


# --- identities -----------------------------------------------------------------------------------

IDENTITIES_NOTE = "# Written by docs/generate.py from rlaif.servers.identities. Do not edit.\n"


# --- events ---------------------------------------------------------------------------------------


def events_page() -> str:
    """docs/events.md."""
    return _page(
        "# Events and telemetry",
        NOTE,
        "Events travel on NATS JetStream as CloudEvents 1.0 in JSON. An event is a hint: it names "
        "objects by key and digest, and its consumer reads the object. Equal data gives an equal "
        "event id, and the id is the `Nats-Msg-Id`, so publishing twice stores one message. "
        "`?` marks a type that includes null; times have a zone. Optional fields have a default, "
        "null or empty unless it is listed. Within a version only optional fields are added "
        "([ADR 0003](adr/0003-events-are-hints-objects-are-truth.md)). "
        "Source: [catalog.py](../libs/common/src/rlaif/contracts/catalog.py), "
        "[events.py](../libs/common/src/rlaif/contracts/events.py).",
        _overview(),
        "## Streams",
        "File storage, limits retention, duplicate window one hour. Each consumer is "
        f"a durable pull consumer; the server delivers one event to it at most {MAX_DELIVER} "
        "times. Sizes are the defaults of one server "
        "([topology.py](../libs/common/src/rlaif/bus/topology.py)).",
        _streams(),
        "## Envelope",
        _fields(CloudEvent[EventData]),
        *(part for spec in CATALOG for part in _event(spec)),
        "## Telemetry",
        "Live readings on plain NATS: not stored and not acknowledged. No service depends on "
        "them. An unknown value is null.",
        f"### `{FRAME_SUBJECT}.<env>`",
        _doc(ScreenFrame),
        *(part for reading in READINGS for part in _reading(reading)),
    )


def _overview() -> str:
    rows = [
        (
            f"[`{spec.subject}`](#{_anchor(spec)})",
            f"`{spec.stream}`",
            spec.producer,
            ", ".join(spec.consumers) or "HUD only",
        )
        for spec in CATALOG
    ]
    return _table(("Subject", "Stream", "Producer", "Consumers"), rows)


def _anchor(spec: EventSpec) -> str:
    return spec.type.replace(".", "")


def _streams() -> str:
    rows = []
    for name, stream in STREAMS.items():
        config = stream_config(name, TopologySettings())
        rows.append(
            (
                f"`{name}`",
                ", ".join(f"`{subject}`" for subject in stream.subjects),
                _age(config.max_age or 0),
                f"{(config.max_bytes or 0) // _MIB} MiB",
                "drops the oldest" if stream.drops_oldest else "rejects",
                f"{(config.max_msg_size or 0) // 1024} KiB",
            )
        )
    return _table(("Stream", "Subjects", "Retention", "Size", "When full", "Largest message"), rows)


def _age(seconds: float) -> str:
    return f"{timedelta(seconds=seconds).days} days" if seconds else "until removed"


def _event(spec: EventSpec) -> Iterator[str]:
    yield f"## {spec.type}"
    yield _doc(spec.data)
    yield f"Event id `{spec.id_format}`, CloudEvents subject `{spec.about_format}`."
    yield _fields(spec.data)
    for name, field in spec.data.model_fields.items():
        inside = field.annotation
        if isinstance(inside, type) and issubclass(inside, Contract):
            yield f"`{name}`: {_doc(inside)}"
            yield _fields(inside)


def _reading(reading: type[Telemetry]) -> Iterator[str]:
    shared = sum(each.SUBJECT == reading.SUBJECT for each in READINGS) > 1
    yield f"### `{reading.SUBJECT}`" + (f", {reading.__name__}" if shared else "")
    yield _doc(reading)
    yield _fields(reading)
    if reading is AssistanceStatus:
        yield "Each of `by_mode`:"
        yield _fields(ModeFigures)
    if reading is EnvironmentsSeen:
        yield "Each of `runners`, then of `environments`:"
        yield _fields(RunnerSign)
        yield _fields(EnvironmentStands)
    if reading is WorldProgress:
        yield "Each of `rooms`:"
        yield _fields(RoomSeen)


# --- fields of a pydantic class -------------------------------------------------------------------


def _fields(kind: type[Contract]) -> str:
    schema = kind.model_json_schema()
    required = set(schema.get("required", ()))
    rows = [
        (
            f"`{name}` {_own(kind) if '$ref' in field else _type(field)}"
            + ("" if name in required else _default(field)),
            field.get("description", ""),
        )
        for name, field in schema["properties"].items()
    ]
    plain = ", ".join(head for head, meaning in rows if not meaning)
    return _list([row for row in rows if row[1]], *[(plain, "")] * bool(plain))


def _own(kind: type[Contract]) -> str:
    return "the event's own fields, below" if issubclass(kind, CloudEvent) else "fields, below"


def _type(field: dict[str, Any]) -> str:
    """A JSON schema in a few words."""
    if "anyOf" in field:
        kinds = [_type(option) for option in field["anyOf"] if option.get("type") != "null"]
        kind = " or ".join(kinds)
        name, *bounds = kind.split(" ", 1)
        return " ".join([f"{name}?", *bounds]) if len(kinds) < len(field["anyOf"]) else kind
    if "const" in field:
        return f'"{field["const"]}"'
    if field.get("pattern") == ID_PATTERN:
        return "id"
    if field.get("pattern") == SHA256_PATTERN:
        return "SHA-256"
    if field.get("format") == "date-time":
        return "time"
    kind = str(field.get("type", "any"))
    if kind == "array":
        return f"list of {_type(field['items'])}" if "items" in field else "list"
    if kind == "object":
        values = field.get("additionalProperties")
        return f"object of {_type(values)}" if isinstance(values, dict) else "object"
    return f"{kind}{_bounds(field)}"


def _bounds(field: dict[str, Any]) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None and high < MAX_SECONDS:
        return f" {low} to {high}"
    return f" ≥ {low}" if low is not None and low > -MAX_SECONDS else ""


def _default(field: dict[str, Any]) -> str:
    """The default in brackets, unless it is null or empty, as that of most fields."""
    value = field.get("default", field.get("const"))
    return "" if value in (None, [], "") or "const" in field else f" (`{value}`)"


# --- configuration --------------------------------------------------------------------------------


def configuration_page() -> str:
    """docs/configuration.md."""
    return _page(
        "# Configuration",
        NOTE,
        "Each entry: variable, default, meaning. A value on the command line takes precedence "
        "over the environment, and both over the default. The option is the variable's name "
        "without the service, in lower case with hyphens (`TRAINER_RUN_ID`: `--run-id`), and "
        "with a dot after a block (`TRAINER_SHAPING_WEIGHT`: `--shaping.weight`). `--help` prints "
        "the same, `--print-settings` the values in effect, "
        "with secrets masked. A wrong value ends the start with exit code 2 and one line. Lists "
        "and objects are JSON; an option also takes a list item by item (`--x a --x b`), and "
        "`null` for unset.",
        "`make demo` passes its environment to every service, and sets addresses, credentials, "
        "ports and a few smaller training values "
        "([stack.py](../deploy/local/src/rlaif/local/stack.py)); your training values take "
        "precedence.",
        "## All services",
        "If the plain name is not set, the prefixed name of one service applies, such as "
        "`JUDGE_LOG_LEVEL`.",
        _settings(each for each in describe(ServiceSettings) if each.shared),
        *(part for service in SERVICES for part in _own_settings(service.settings)),
        *_own_settings(BootstrapSettings),
    )


def _own_settings(settings: type[SharedSettings]) -> Iterator[str]:
    name = settings.service_name()
    yield f"## {name}"
    yield f"{_doc(settings)} Run: `python -m rlaif.{name.replace('-', '_')}`."
    yield _settings(each for each in describe(settings) if not each.shared)


def _settings(settings: Iterable[Setting]) -> str:
    return _list(
        (f"`{each.environment}` {_value(each.default_text)}{_option(each)}", each.description)
        for each in settings
    )


def _value(default: str) -> str:
    return f"({default if default in ('unset', 'hidden') else f'`{default}`'})"


def _option(setting: Setting) -> str:
    """The option, unless it follows from the variable's name."""
    derived = "--" + setting.environment.lower().replace("_", "-")
    prefixes = ["", *(f"{each.settings.service_name()}-" for each in SERVICES), "bootstrap-"]
    usual = {derived.replace(f"--{prefix}", "--", 1) for prefix in prefixes}
    return "" if setting.option.replace(".", "-") in usual else f" `{setting.option}`"


# --- metrics --------------------------------------------------------------------------------------


def metrics_page() -> str:
    """docs/metrics.md."""
    found = {service.name: _metrics_of(service) for service in SERVICES}
    every = [_unprefixed(service, doc) for service in SERVICES for doc in found[service.name]]
    common = [row for row in dict.fromkeys(every) if every.count(row) == len(SERVICES)]
    return _page(
        "# Metrics",
        NOTE,
        "Each service serves `GET /metrics` in the text format of Prometheus. Units are seconds "
        "and counts. Each entry: name, kind, labels, meaning. On Linux each service also exposes "
        "the `process_*` metrics of the Prometheus client.",
        "## All services",
        _list(_metric(doc) for doc in common),
        *(
            part
            for service in SERVICES
            for part in (
                f"## {service.name}",
                _list(
                    _metric(doc)
                    for doc in found[service.name]
                    if _unprefixed(service, doc) not in common
                ),
            )
        ),
    )


def _metrics_of(service: Service) -> tuple[MetricDoc, ...]:
    app = service.app(service.settings())
    app.build_middleware_stack()  # the request metrics are made with the middleware
    metrics: ServiceMetrics = app.state.metrics
    if any(service.name in spec.consumers for spec in CATALOG):
        metrics.worker_observer()  # some make it once NATS is reached
    return metrics.described()


def _unprefixed(service: Service, doc: MetricDoc) -> MetricDoc:
    """The metric with `<service>` for the service's name, to see what all have."""
    own = f"rlaif_{service.name.replace('-', '_')}_"
    name = f"rlaif_<service>_{doc.name.removeprefix(own)}"
    return MetricDoc(name, doc.kind, doc.doc, doc.labels)


def _metric(doc: MetricDoc) -> tuple[str, str]:
    labels = " by " + ", ".join(f"`{name}`" for name in doc.labels) if doc.labels else ""
    return f"`{doc.name}` {doc.kind}{labels}", doc.doc


# --- observation ----------------------------------------------------------------------------------


def observation_page() -> str:
    """docs/observation.md."""
    groups = dict.fromkeys(slot.group for slot in LAYOUT)
    return _page(
        "# Observation",
        NOTE,
        f"The observation of policy, reward model and page: {OBSERVATION_SIZE} numbers, float32 "
        f"in [0, 1], layout {LAYOUT_VERSION} "
        "([observation.py](../libs/common/src/rlaif/contracts/game/observation.py)), a pure "
        "function of the RAM "
        "([reference.py](../libs/game/src/rlaif/game/encoder/reference.py)). Each entry: "
        "index, name, scale, meaning, source. A value is divided by its scale and clipped at 1. "
        "Unused numbers are 0. Sources are symbols of the memory map "
        "([symbols.csv](../libs/game/src/rlaif/game/memory/symbols.csv)); an entry without one has "
        "that of the entry before.",
        *(part for group in groups for part in _slots(group)),
    )


def _slots(group: str) -> Iterator[str]:
    yield f"## {group}"
    alike: dict[tuple[str, str, str], list[Slot]] = {}
    for slot in (each for each in LAYOUT if each.group == group):
        source = ", ".join(f"`{name}`" for name in sources_of(slot.name))
        scale = "" if slot.scale == 1 else f" / {slot.scale:g}"
        meaning = re.sub(r"number \d", "the nearest three", slot.meaning)
        alike.setdefault((meaning, scale, source), []).append(slot)
    rows, before = [], ""
    for (meaning, scale, source), slots in alike.items():
        names = ", ".join(f"{slot.index} `{slot.name}`" for slot in slots)
        rows.append((names + scale, meaning + ("" if source == before else f" ({source})")))
        before = source
    yield _list(rows)


# --- the policy's input ---------------------------------------------------------------------------

_LISTED = 20
"""Slots of a field whose names are listed; of more, or of bits, the first and the last."""


def policy_input_page() -> str:
    """docs/policy-input.md."""
    return _page(
        "# The policy's input",
        NOTE,
        "The additional input of a policy that chooses among decisions, next to the "
        f"{OBSERVATION_SIZE} numbers of the [observation](observation.md): {POLICY_INPUT_SIZE} "
        f"numbers, float32, layout {INPUT_VERSION} "
        "([layout.py](../libs/game/src/rlaif/game/policy_input/layout.py)), a pure function of the "
        "RAM, the last decision and the action set (`TRAINER_ACTIONS`). Each entry: indexes, name, "
        "meaning, names of the numbers. A number is in [0, 1], or a code, which the network "
        "embeds. Unused numbers are 0 "
        "([ADR 0029](adr/0029-a-policy-sees-more-than-a-judge.md)).",
        _list(
            (
                f"{field.span.start}-{field.span.stop - 1} `{field.name}`"
                + ("" if field.codes is None else f" codes 0 to {field.codes - 1}"),
                field.meaning + _slot_names(field.slots),
            )
            for field in POLICY_INPUT.fields
        ),
    )


def _slot_names(slots: tuple[str, ...]) -> str:
    """The names of several slots in brackets; a single one is the field itself."""
    if len(slots) == 1:
        return ""
    if len(slots) > _LISTED or slots[-1] == f"bit_{len(slots) - 1}":
        return f" ({slots[0]} … {slots[-1]})"
    return f" ({', '.join(slots)})"


# --- Markdown -------------------------------------------------------------------------------------


def _page(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _doc(kind: type) -> str:
    """The docstring's text without its sections, as one paragraph."""
    text = cleandoc(kind.__doc__ or "").split("\nAttributes:")[0]
    return " ".join(text.split())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _list(rows: Iterable[tuple[str, str]], *more: tuple[str, str]) -> str:
    """Entries of a head and what it means; without a meaning, the head alone."""
    return "\n".join(
        " ".join(f"- {head}{': ' if meaning else ''}{meaning}".split())
        for head, meaning in (*rows, *more)
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
