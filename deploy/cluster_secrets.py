"""Makes the six Secrets of a namespace, or adds what is missing in them.

    python3 deploy/cluster_secrets.py --namespace zelda-rlaif-dev [--client oc]

Values that are in the cluster stay. A variable of the same name as a key gives a value, such as
S3_ACCESS_KEY, LLM_API_KEY or NATS_ADMIN_PASSWORD; the rest is random. Values go to the client on
its standard input and are never printed. Needs Python 3.7 and the standard library alone.
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

NAMES = (
    "rlaif-nats-server",
    "rlaif-nats-admin",
    "rlaif-nats",
    "rlaif-s3",
    "rlaif-api",
    "rlaif-llm",
)


class ClientError(Exception):
    """The client of the cluster is missing or refused; the message is its own."""


def wanted(
    known: Mapping[str, Mapping[str, str]], given: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Every Secret with all of its keys.

    Args:
        known: The Secrets of the cluster, by name, decoded.
        given: Variables: a key that is one of them takes its value.
    """

    def value(name: str, key: str, default: str = "") -> str:
        own = known.get(name, {}).get(key)
        if own and own.startswith('"'):
            own = str(json.loads(own))
        return given.get(key) or own or default or secrets.token_hex(20)

    server = {
        "NATS_ADMIN_USER": value("rlaif-nats-server", "NATS_ADMIN_USER", "admin"),
        "NATS_ADMIN_PASSWORD": value("rlaif-nats-server", "NATS_ADMIN_PASSWORD"),
        "NATS_SERVICE_USER": value("rlaif-nats-server", "NATS_SERVICE_USER", "service"),
        "NATS_SERVICE_PASSWORD": value("rlaif-nats-server", "NATS_SERVICE_PASSWORD"),
    }
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
        "rlaif-nats-admin": {"NATS_URL": _nats_url(server, "ADMIN")},
        "rlaif-nats": {"NATS_URL": _nats_url(server, "SERVICE")},
        "rlaif-s3": {key: value("rlaif-s3", key) for key in ("S3_ACCESS_KEY", "S3_SECRET_KEY")},
        "rlaif-api": {"RLAIF_API_TOKEN": token},
        "rlaif-llm": {key: model_key(key) for key in ("LLM_API_KEY", "TRAINER_PLANNER_API_KEY")},
    }


def _nats_url(server: Mapping[str, str], user: str) -> str:
    name, password = server[f"NATS_{user}_USER"], server[f"NATS_{user}_PASSWORD"]
    return f"nats://{quote(name, safe='')}:{quote(password, safe='')}@nats:4222"


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
        for name, data in wanted(known, os.environ).items():
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
