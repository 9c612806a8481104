"""Writes what follows from the rules and from the declared dashboards.

    python deploy/monitoring/generate.py            write the files
    python deploy/monitoring/generate.py --check    exit 1 when a file differs

    rules/*.yaml ──▶ components/monitoring/rules.yaml, one PrometheusRule; that of certificates
                     cluster/platform/certificate-alerts.yaml, where the metrics are
    boards.py    ──▶ dashboards/*.json, and an object of the Grafana operator for each

Kustomize can take no piece of one file into another, hence the copy of the rules.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from boards import DASHBOARDS
from panels import Dashboard

HERE = Path(__file__).resolve().parent
DEPLOY = HERE.parent
NOTE = "Written by deploy/monitoring/generate.py. Do not edit."


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check the files; returns the exit code."""
    parser = argparse.ArgumentParser(description="Writes dashboards and the objects of them.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; 1 when a file is stale"
    )
    check = parser.parse_args(argv).check
    wanted = files()
    ours = {*HERE.glob("dashboards/*.json"), *DEPLOY.glob("components/grafana/dashboard-*.yaml")}
    stale = [path for path, text in wanted.items() if _stored(path) != text]
    gone = sorted(ours - wanted.keys())
    if check:
        for path in [*stale, *gone]:
            sys.stderr.write(f"{path.relative_to(DEPLOY)}: not what generate.py writes\n")
        return 1 if stale or gone else 0
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
    for path in gone:
        path.unlink()
    return 0


def files() -> dict[Path, str]:
    """Every file that is written, by its path."""
    boards = {
        HERE / "dashboards" / f"{board.name}.json": json.dumps(board.json(), indent=2) + "\n"
        for board in DASHBOARDS
    }
    objects = {
        DEPLOY / "components/grafana" / f"dashboard-{board.name}.yaml": _object_of(board)
        for board in DASHBOARDS
    }
    certificates = HERE / "rules/certificates.yaml"
    ours = sorted({*(HERE / "rules").glob("*.yaml")} - {certificates})
    rules = {
        DEPLOY / "components/monitoring/rules.yaml": _rules(ours, {}),
        DEPLOY / "cluster/platform/certificate-alerts.yaml": _rules(
            [certificates], {"namespace": "cert-manager"}
        ),
    }
    return {**boards, **objects, **rules}


def _stored(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _rules(paths: Sequence[Path], place: Mapping[str, str]) -> str:
    groups = [
        group
        for path in paths
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    ]
    rule = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": "zelda-rlaif",
            **place,
            "labels": {"app.kubernetes.io/part-of": "zelda-rlaif"},
        },
        "spec": {"groups": groups},
    }
    about = (
        f"# Rules of deploy/monitoring/rules as one object. {NOTE}\n"
        "# No rule names a namespace: the operator adds the one of this object to each.\n"
    )
    return about + _yaml(rule)


def _object_of(board: Dashboard) -> str:
    about = f"# {board.title}: {board.says} {NOTE}\n"
    return about + _yaml(
        {
            "apiVersion": "grafana.integreatly.org/v1beta1",
            "kind": "GrafanaDashboard",
            "metadata": {
                "name": board.name,
                "labels": {"app.kubernetes.io/part-of": "zelda-rlaif"},
            },
            "spec": {
                "instanceSelector": {"matchLabels": {"dashboards": "zelda-rlaif"}},
                "folder": "Zelda RLAIF",
                "configMapRef": {"name": "grafana-dashboards", "key": f"{board.name}.json"},
            },
        }
    )


def _yaml(document: object) -> str:
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)
    return text


if __name__ == "__main__":
    sys.exit(main())
