"""The processes of the pipeline as data: commands, settings and readiness checks."""

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx

from rlaif.files.failures import CommandError
from rlaif.local.administrator import administered
from rlaif.local.child import STOP_SECONDS, ChildSpec
from rlaif.local.places import HOST, DataDirectory, PortBusyError, Ports, Secrets
from rlaif.local.rewards import REWARDS
from rlaif.servers.identities import ADMIN, IDENTITIES, nats_users
from rlaif.servers.nats_server import NatsServerRecipe, find_nats_server
from rlaif.servers.seaweedfs import (
    GRPC_OFFSET,
    SeaweedFS,
    SeaweedPorts,
    find_weed,
    seaweed_port_is_free,
)
from rlaif.service.child_process import bare_environment
from rlaif.service.peers import peer_client
from rlaif.storage.keys import EPISODES_BUCKET, MODELS_BUCKET
from rlaif.storage.ports import StoreUnavailableError

SERVICES = ("hud", "exporter", "judge", "reward-model", "trainer")
"""In start order: the page first, the largest CPU user last."""

PAGE = "hud"
"""The service with the page."""

WORLDS = "worlds"
"""Folder of generated worlds in the data directory."""

_SERVER_STOP_SECONDS = 1.5
_COPY_SECONDS = 15.0
"""Extra grace period of the trainer to copy the saved run to the models store."""

_PORTS = {
    "nats": 4222,
    "nats monitor": 8222,
    "s3": 9000,
    "mock-llm": 8085,
    "trainer": 8081,
    "exporter": 8082,
    "judge": 8083,
    "reward-model": 8084,
    "hud": 8086,
}

CREDENTIALS: dict[str, tuple[str, ...]] = {
    "NATS_URL": SERVICES,
    "S3_ACCESS_KEY": SERVICES,
    "S3_SECRET_KEY": SERVICES,
    "RLAIF_API_TOKEN": (*SERVICES, "mock-llm"),
    "LLM_API_KEY": ("judge",),
    "TRAINER_PLANNER_API_KEY": ("trainer",),
}
"""Secret setting → the processes that get it."""

_CHOSEN = {"LLM_BASE_URL", "ROM_PATH"}.union(*REWARDS.values())
"""Variables whose values the user overrides by options."""

_DEMO_SETTINGS: dict[str, dict[str, str]] = {
    # Small, fast iterations: the whole pipeline shares two cores.
    "trainer": {
        "RAY_WORKERS": "1",
        "ENVS_PER_WORKER": "6",
        "BATCH_SIZE": "1536",
        "EPISODE_LENGTH": "2700",
        "TRAINER_MODE": "pipeline",
        "EPOCH_STEPS": "30000",
        "TRAINER_CAPTURES_PER_MINUTE": "75",
        "TRAINER_JUDGE_BACKLOG": "32",
        "TRAINER_STOP_SECONDS": "40",
    },
    # Early play differs by half screens only, which a linear fit on position and room ranks nearly
    # as well as a network: 0.05 better on 400 labels, too few to prove it. The demo thus accepts a
    # model that is not much worse than the linear fit; all other checks are unchanged.
    "reward-model": {"REWARD_MODEL_SIMPLE_MARGIN": "-0.1"},
}


@dataclass(frozen=True)
class Options:
    """Options of a user; None means a default: built-in cartridge, any port, mock LLM.

    The environment overrides `default_rewards`, and `rewards` the environment.
    """

    data_dir: Path
    rom_path: Path | None = None
    hud_port: int | None = None
    llm_base_url: str | None = None
    rewards: str | None = None
    default_rewards: str = "judges"


@dataclass(frozen=True)
class Stack:
    """All processes: servers start first and stop last; `urls` by service.

    `trainer_dir` holds the trainer's runs. `unused` are variables of the user's environment that
    the stack sets itself. `upkeep` is open while the services run.
    """

    servers: tuple[ChildSpec, ...]
    services: tuple[ChildSpec, ...]
    urls: dict[str, str]
    api_token: str
    trainer_dir: Path
    unused: tuple[str, ...] = ()
    upkeep: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)


def plan(options: Options, reserved: Ports) -> Stack:
    """Choose ports, write configuration files, and return the processes to start.

    Raises:
        DamagedSecretsError: The secrets of the data directory are unreadable.
        PortBusyError: The requested port cannot be bound.
        CommandError: The environment names other servers.
        OSError: The data directory is not writable.
    """
    home = DataDirectory(options.data_dir)
    secrets = home.secrets()
    if options.hud_port is not None and not reserved.claim(options.hud_port):
        raise PortBusyError(
            f"the page cannot listen on port {options.hud_port}: it is in use, or this user may "
            "not bind it; choose another with --hud-port (make demo HUD_PORT=…)"
        )
    ports = {name: reserved.take(port) for name, port in _PORTS.items() if name != "s3"}
    ports["hud"] = options.hud_port or ports["hud"]
    users = nats_users(lambda name: f'"{secrets.nats_password(name)}"')
    nats = NatsServerRecipe(
        home.root / "nats",
        ports["nats"],
        ports["nats monitor"],
        more=f"authorization {{\n{users}}}",
    )
    nats_urls = {
        name: nats.url_of(name, secrets.nats_password(name)) for name in (ADMIN, *SERVICES)
    }
    urls = {name: f"http://{HOST}:{ports[name]}" for name in (*SERVICES, "mock-llm")}
    environment = _shared_environment(secrets, options, urls)
    own = {name: {"NATS_URL": nats_urls[name]} for name in SERVICES}
    servers = [_nats_spec(home, nats)]
    stores = _stores(home)
    environment |= stores
    if any(url.startswith("s3:") for url in stores.values()):
        weed = SeaweedFS(
            data_dir=_s3_folder(home),
            ports=_seaweed_ports(reserved),
            access_key=secrets.s3_access_key,
            secret_key=secrets.s3_secret_key,
            secrets={each.name: secrets.s3_secret(each.name) for each in IDENTITIES},
        )
        environment["S3_ENDPOINT_URL"] = weed.endpoint_url
        for name, key in weed.secrets.items():
            own[name] |= {"S3_ACCESS_KEY": name, "S3_SECRET_KEY": key}
        servers.append(_weed_spec(home, weed))
    if options.llm_base_url is None:
        servers.append(_service_spec(home, "mock-llm", ports["mock-llm"], environment))
    names = ("EPISODES_STORE", "MODELS_STORE", "S3_ENDPOINT_URL")
    noted = {name: environment[name] for name in names if name in environment}
    home.note_addresses(noted | {"HUD_URL": urls["hud"], "NATS_URL": nats_urls[ADMIN]})
    services = tuple(
        _service_spec(home, name, ports[name], environment | own[name]) for name in SERVICES
    )
    return Stack(
        servers=tuple(servers),
        services=services,
        urls=urls,
        api_token=secrets.api_token,
        trainer_dir=Path(environment["TRAINER_DATA_DIR"]),
        unused=tuple(sorted(set().union(*map(_overridden, services)) - _CHOSEN)),
        upkeep=administered(nats_urls[ADMIN]),
    )


def _stores(home: DataDirectory) -> dict[str, str]:
    """The stores' settings: the user's, else the last start's, else folders of the directory.

    Release 0.1.0 stored no addresses, and had all objects in SeaweedFS.
    """
    try:
        kept = home.addresses()
    except FileNotFoundError:
        kept = {}
    if (_s3_folder(home) / "filer.db").exists():
        places = "s3:/"
    else:
        objects = home.root / "objects"
        objects.mkdir(mode=0o700, exist_ok=True)
        places = str(objects)
    default = {
        "EPISODES_STORE": f"{places}/{EPISODES_BUCKET}",
        "MODELS_STORE": f"{places}/{MODELS_BUCKET}",
    }
    stores = {name: os.environ.get(name) or kept.get(name, url) for name, url in default.items()}
    own = {f"s3://{EPISODES_BUCKET}", f"s3://{MODELS_BUCKET}"}
    others = [url for url in stores.values() if not (url in own or url.startswith(("/", "file:/")))]
    if others or (own.intersection(stores.values()) and os.environ.get("S3_ENDPOINT_URL")):
        raise CommandError(
            f"the demo stores objects in folders (/path), or in an S3 server that it starts, with "
            f"{' and '.join(sorted(own))}: correct EPISODES_STORE and MODELS_STORE, and unset "
            "S3_ENDPOINT_URL; for another S3 server, run the services by compose"
        )
    return stores


def _overridden(spec: ChildSpec) -> set[str]:
    """Variables with another value than in the environment of the user."""
    return {
        name for name, value in spec.environment.items() if os.environ.get(name, value) != value
    }


def _s3_folder(home: DataDirectory) -> Path:
    return home.root / "s3"


def _seaweed_ports(reserved: Ports) -> SeaweedPorts:
    def claim(port: int) -> bool:
        return seaweed_port_is_free(port) and reserved.claim(port, port + GRPC_OFFSET)

    return SeaweedPorts.find_free(s3=_PORTS["s3"], first=20_001, claim=claim)


def _shared_environment(secrets: Secrets, options: Options, urls: dict[str, str]) -> dict[str, str]:
    chosen = REWARDS[options.rewards] if options.rewards else {}
    environment = REWARDS[options.default_rewards] | dict(os.environ) | chosen
    environment |= {
        "NATS_MANAGE_STREAMS": "false",
        "NATS_CA_FILE": "",  # its NATS has no TLS
        "RLAIF_API_TOKEN": secrets.api_token,
        "LLM_BASE_URL": options.llm_base_url or urls["mock-llm"],
        "HUD_JUDGE_URL": urls["judge"],
        "HUD_REWARD_MODEL_URL": urls["reward-model"],
        "TRAINER_DATA_DIR": str(options.data_dir / "trainer"),
        "WORLDS_DIR": str(options.data_dir / WORLDS),
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",  # encoding of the logs, in any locale
        # One thread per library: eight processes share the machine.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    if options.llm_base_url is None:
        others = [each for each in environment if re.fullmatch("LLM_(?!BASE).+_URL", each)]
        if others := [each for each in others if environment[each]]:
            raise CommandError(
                f"{', '.join(others)} needs LLM_BASE_URL or --llm-base-url: without it, the judges "
                "have the token of the mock LLM, which other servers must not get"
            )
        # The mock LLM requires the same token as the services.
        environment["LLM_API_KEY"] = secrets.api_token
        # Also if it is the planner; the token is not sent to other servers.
        if environment.get("TRAINER_PLANNER_BASE_URL", "").rstrip("/") == urls["mock-llm"]:
            environment["TRAINER_PLANNER_API_KEY"] = secrets.api_token
    if options.rom_path is not None:
        environment["ROM_PATH"] = str(options.rom_path)
    return environment


def _nats_spec(home: DataDirectory, recipe: NatsServerRecipe) -> ChildSpec:
    recipe.write_files()
    return ChildSpec(
        name="nats",
        command=tuple(recipe.command(find_nats_server())),
        environment=bare_environment(),
        ready=partial(asyncio.to_thread, recipe.healthy),
        answers=partial(asyncio.to_thread, recipe.healthy),
        log=home.log("nats"),
        directory=home.root,
        where=f"nats://{HOST}:{recipe.port}",
        stop_seconds=_SERVER_STOP_SECONDS,
    )


def _weed_spec(home: DataDirectory, recipe: SeaweedFS) -> ChildSpec:
    recipe.write_files()
    weed = find_weed()
    durable = recipe.data_dir / ".fsync-on"

    def ready() -> bool:
        try:
            recipe.wait_ready(seconds=1, alive=lambda: True)
        except StoreUnavailableError:
            return False
        if not durable.exists():
            recipe.turn_on_fsync(weed)
            durable.touch()
        return True

    return ChildSpec(
        name="s3",
        command=tuple(recipe.command(weed)),
        environment=recipe.environment(),
        ready=partial(asyncio.to_thread, ready),
        answers=partial(asyncio.to_thread, recipe.answers),
        log=home.log("s3"),
        directory=recipe.data_dir,
        where=recipe.endpoint_url,
        stop_seconds=_SERVER_STOP_SECONDS,
    )


def _service_spec(
    home: DataDirectory, name: str, port: int, environment: dict[str, str]
) -> ChildSpec:
    module = f"rlaif.{name.replace('-', '_')}"
    url = f"http://{HOST}:{port}"
    others = {variable for variable, users in CREDENTIALS.items() if name not in users}
    # The user's settings override the demo's, also by their longer names: TRAINER_BATCH_SIZE.
    prefix, demo = name.upper().replace("-", "_"), _DEMO_SETTINGS.get(name, {})
    settings = {k: demo[k] for k in demo if f"{prefix}_{k}" not in environment} | environment
    environment = {key: settings[key] for key in settings.keys() - others}
    return ChildSpec(
        name=name,
        command=(sys.executable, "-m", module, "--host", HOST, "--port", str(port)),
        environment=environment,
        # Started once /livez answers: missing dependencies (/readyz) must not block the others.
        ready=answers(f"{url}/livez"),
        answers=answers(f"{url}/livez", busy=True),
        log=home.log(name),
        directory=home.root,
        where=url,
        stop_seconds=_stop_seconds(environment) if name == "trainer" else STOP_SECONDS,
    )


def _stop_seconds(environment: Mapping[str, str]) -> float:
    """Grace period of the trainer to save and copy its run; it rejects invalid values itself."""
    try:
        return float(environment["TRAINER_STOP_SECONDS"]) + _COPY_SECONDS
    except ValueError:
        return STOP_SECONDS


def answers(url: str, *, busy: bool = False) -> Callable[[], Awaitable[bool]]:
    """Whether it answers 200 or, if `busy` is enough, that it has too many connections."""
    wanted = (200, 503) if busy else (200,)

    async def ready() -> bool:
        try:
            async with peer_client(url, timeout=5.0) as client:
                return (await client.get(url)).status_code in wanted
        except httpx.HTTPError:
            return False

    return ready
