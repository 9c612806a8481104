"""A run: from the page of a running pipeline, or from its folder on disk."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rlaif.client.rest import DEFAULT_HUD, ClientError, get
from rlaif.files.tables import json_lines

if TYPE_CHECKING:
    import pandas

_MAX_POINTS = 1000


class Run:
    """The curves and settings of one run.

    Args:
        run: Id of a run, or its folder, such as `var/trainer/runs/r260301090000`; `current` is the
            current run of the page.
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
        """The curves: one row per iteration (of a folder) or per chart point (of the page).

        Figures of episodes are means of the last 100 in a folder; those of the page, such as
        `milestones_mean`, are of the episodes since the point before: `episodes` of them.

        Raises:
            ClientError: There is no such run or no iteration of it, or pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ClientError(
                "history() needs pandas: pip install pandas, or use rows()"
            ) from error
        return pandas.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Like `history`, as dictionaries; unknown values are missing or None.

        Raises:
            ClientError: There is no such run.
        """
        if self.folder is None:
            known = None if self._current else self.run
            view = self._get("history", wanted="points", run=known, points=_MAX_POINTS)
            rows = [dict(_flat(point)) for point in view["points"]]
        else:
            with _of_folder(self.folder):
                rows = list(json_lines(self.folder / "metrics.jsonl"))
        if not rows:
            raise ClientError(f"run {self.run}: its first iteration has not ended")
        return rows

    def settings(self) -> dict[str, str]:
        """The effective settings by variable, without secrets and machine-specific ones.

        Raises:
            ClientError: There is no such run, or it is of an earlier release than 0.2.0.
        """
        if self.folder is not None:
            with _of_folder(self.folder):
                record = json.loads((self.folder / "run.json").read_text())
        else:
            run_id = self.run
            if self._current:
                run_id = self._get("history", wanted="run_id", points=2)["run_id"]
            record = self._get(f"runs/{quote(run_id, safe='')}", wanted="provenance")
        if record.get("provenance") is None:
            raise ClientError(f"run {self.run} did not record its settings: it is of release 0.1.0")
        return dict(record["provenance"]["settings"])

    def _get(self, path: str, **query: Any) -> Any:
        try:
            return get(self.url, path, **query)
        except ClientError as error:
            folder = "var/trainer/runs/RUN" if self._current else f"var/trainer/runs/{self.run}"
            raise ClientError(f"{error}; a run on disk is read by its folder: {folder}") from error


@contextlib.contextmanager
def _of_folder(folder: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        name = Path(error.filename).name
        started = name != "run.json" and (folder / "run.json").exists()
        hint = "its first iteration has not ended" if started else "is it the folder of a run?"
        raise ClientError(f"{folder} has no {name}: {hint}") from error
    except ValueError as error:
        raise ClientError(f"{folder / 'run.json'} is damaged: {error}") from error


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten `{"paid": {"score": 1}}` to `("paid.score", 1)`, like pandas.json_normalize."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
