"""A run: from the page of a running pipeline, or from its folder on disk."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlaif.client.rest import DEFAULT_HUD, ClientError, get

if TYPE_CHECKING:
    import pandas

_MAX_POINTS = 1000


class Run:
    """The curves and settings of one run.

    Args:
        run: Id of a run, or its folder, such as `var/trainer/runs/r260301090000`; `current` is the
            one that the page shows.
        url: Address of the page; not used for a folder.
    """

    def __init__(self, run: str | Path = "current", url: str = DEFAULT_HUD) -> None:
        self.run, self.url = str(run), url
        folder = Path(run)
        self.folder = folder if folder.is_dir() else None
        self._current = self.run == "current"
        if self.folder is None and len(folder.parts) > 1:
            raise ClientError(f"no folder {folder}; give the folder of a run, or its id")

    def history(self) -> "pandas.DataFrame":
        """The curves, a row per iteration in a folder, or per point of the page's charts.

        Raises:
            ClientError: There is no such run, or pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ClientError(
                "history() needs pandas: pip install pandas, or use rows()"
            ) from error
        return pandas.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """As `history`, as dictionaries; a value that is unknown in a row is not in it or None.

        Raises:
            ClientError: There is no such run.
        """
        if self.folder is None:
            known = None if self._current else self.run
            view = get(self.url, "history", run=known, points=_MAX_POINTS)
            return [dict(_flat(point)) for point in view["points"]]
        lines = self._read(self.folder, "metrics.jsonl").splitlines()
        if lines and not lines[-1].endswith("}"):
            del lines[-1]  # a kill tore it
        return [json.loads(line) for line in lines]

    def settings(self) -> dict[str, str]:
        """Its effective settings by variable, without those of the machine and without secrets.

        Raises:
            ClientError: There is no such run, or it is older than release 0.2.0.
        """
        if self.folder is not None:
            record = json.loads(self._read(self.folder, "run.json"))
        else:
            run_id = get(self.url, "history", points=2)["run_id"] if self._current else self.run
            record = get(self.url, f"runs/{run_id}")
        if record.get("provenance") is None:
            raise ClientError(f"run {self.run} did not record its settings: it is of release 0.1.0")
        return dict(record["provenance"]["settings"])

    @staticmethod
    def _read(folder: Path, name: str) -> str:
        try:
            return (folder / name).read_text()
        except FileNotFoundError as error:
            raise ClientError(f"{folder} has no {name}: is it the folder of a run?") from error


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """`{"paid": {"score": 1}}` as `("paid.score", 1)`, as pandas.json_normalize does it."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
