"""Makes the Secrets of a namespace, or adds what is missing in them.

    python3 deploy/cluster_secrets.py --namespace zelda-rlaif-dev [--client oc] [--one-s3-key]

Values that are in the cluster stay. A variable of the same name as a key gives a value, such as
LLM_API_KEY or NATS_ADMIN_PASSWORD; S3_ACCESS_KEY and S3_SECRET_KEY give those of a store that has
one key for all services. The rest is random. Values go to the client on its standard input and are
never printed. Needs Python 3.7 and the standard library alone.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

SERVICES = ("trainer", "exporter", "judge", "reward-model", "hud")
"""Each has a user of NATS and a key of S3 of its own (rlaif.servers.identities)."""

_USERS = ("admin", *SERVICES)

NAMES = (
    "rlaif-nats-server",
    *(f"rlaif-nats-{name}" for name in _USERS),
    "rlaif-s3",
    *(f"rlaif-s3-{name}" for name in _USERS),
    "rlaif-api",
    "rlaif-llm",
)


class ClientError(Exception):
    """The client of the cluster is missing or refused; the message is its own."""


def wanted(
    known: Mapping[str, Mapping[str, str]], given: Mapping[str, str], *, one_s3_key: bool = False
) -> dict[str, dict[str, str]]:
    """Every Secret with all of its keys.

    Args:
        known: The Secrets of the cluster, by name, decoded.
        given: Variables: a key that is one of them takes its value.
        one_s3_key: The store has one key for all services.
    """

    def value(name: str, key: str, default: str = "") -> str:
        own = known.get(name, {}).get(key)
        if own and own.startswith('"'):
            own = str(json.loads(own))
        return given.get(key) or own or default or secrets.token_hex(20)

    def s3_keys(name: str) -> dict[str, str]:
        keys = known.get(f"rlaif-s3-{name}", {})
        return {
            "S3_ACCESS_KEY": keys.get("S3_ACCESS_KEY") or name,
            "S3_SECRET_KEY": keys.get("S3_SECRET_KEY") or secrets.token_hex(20),
        }

    users = {name: f"NATS_{name.upper().replace('-', '_')}_PASSWORD" for name in _USERS}
    server = {key: value("rlaif-nats-server", key) for key in users.values()}
    token = value("rlaif-api", "RLAIF_API_TOKEN")
    old_token = known.get("rlaif-api", {}).get("RLAIF_API_TOKEN")

    def model_key(key: str) -> str:
        # The mock takes the token of the API, also a new one; other models have a key of their own.
        own = known.get("rlaif-llm", {}).get(key)
        return given.get(key) or (token if own in (None, "", old_token) else own) or token

    return {
        # Quoted, because the server reads its variables as configuration: # would begin a comment.
        "rlaif-nats-server": {
            key: json.dumps(each, ensure_ascii=False) for key, each in server.items()
        },
        # The same passwords in the addresses, always: a server knows no others.
        **{
            f"rlaif-nats-{name}": {
                "NATS_URL": f"nats://{name}:{quote(server[key], safe='')}@nats:4222"
            }
            for name, key in users.items()
        },
        **(
            {
                "rlaif-s3": {
                    key: value("rlaif-s3", key) for key in ("S3_ACCESS_KEY", "S3_SECRET_KEY")
                }
            }
            if one_s3_key
            else {f"rlaif-s3-{name}": s3_keys(name) for name in _USERS}
        ),
        "rlaif-api": {"RLAIF_API_TOKEN": token},
        "rlaif-llm": {key: model_key(key) for key in ("LLM_API_KEY", "TRAINER_PLANNER_API_KEY")},
    }


def manifest(name: str, namespace: str, data: Mapping[str, str]) -> dict[str, Any]:
    """A Secret as it is sent to the cluster."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app.kubernetes.io/part-of": "zelda-rlaif"},
        },
        "type": "Opaque",
        "data": {key: base64.b64encode(each.encode()).decode() for key, each in data.items()},
    }


def _run(command: list[str], given: str = "") -> str:
    done = subprocess.run(command, input=given.encode(), capture_output=True, check=False)
    if done.returncode:
        raise ClientError(f"{command[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()


def _found(client: str, namespace: str) -> dict[str, dict[str, Any]]:
    command = [client, "get", "secrets", "-n", namespace, "-o", "json"]
    items = json.loads(_run(command))["items"]
    return {each["metadata"]["name"]: each for each in items if each["metadata"]["name"] in NAMES}


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; 2 when the cluster cannot be asked or refuses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--namespace", required=True, help="such as zelda-rlaif-dev")
    parser.add_argument(
        "--one-s3-key", action="store_true", help="the store has one key for all services"
    )
    parser.add_argument("--client", help="oc or kubectl; the first that is installed")
    options = parser.parse_args(arguments)
    client = options.client or shutil.which("oc") or shutil.which("kubectl")
    try:
        if client is None:
            raise ClientError("neither oc nor kubectl is on the path; install one of them")
        found = _found(client, options.namespace)
        known = {
            name: {key: base64.b64decode(each).decode() for key, each in data.items()}
            for name, data in ((name, each.get("data") or {}) for name, each in found.items())
        }
        own = sorted(name for name in found if name.startswith("rlaif-s3-"))
        claimed = found.get("rlaif-s3", {}).get("metadata", {}).get("ownerReferences")
        wishes = options.one_s3_key or bool(os.environ.get("S3_ACCESS_KEY") or claimed)
        if wishes and own:
            raise ClientError(
                f"pods read {', '.join(own)} in the place of rlaif-s3; for a store with one key: "
                f"{client} delete secret -n {options.namespace} {' '.join(own)}"
            )
        one_key = wishes or ("rlaif-s3" in found and not own)
        for name, data in wanted(known, os.environ, one_s3_key=one_key).items():
            owners = found.get(name, {}).get("metadata", {}).get("ownerReferences")
            if owners:
                sys.stdout.write(f"{name}: left to its {owners[0]['kind']}\n")
            elif data.items() <= known.get(name, {}).items():
                sys.stdout.write(f"{name}: kept\n")
            else:
                text = json.dumps(manifest(name, options.namespace, data))
                _run([client, "apply", "--server-side", "--force-conflicts", "-f", "-"], text)
                verb = "changed" if name in known else "made"
                keys = [f"{key} (given)" if os.environ.get(key) else key for key in data]
                sys.stdout.write(f"{name}: {verb}, {', '.join(keys)}\n")
    except (ClientError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
