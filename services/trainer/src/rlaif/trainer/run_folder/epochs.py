"""The manifest of the checkpoint at the end of each epoch; it outlives the checkpoint's files.

runs/{run_id}/epochs/epoch_N.json
"""

from pathlib import Path

from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder.checkpoints import Manifest

FOLDER = "epochs"


def note(run_directory: Path, epoch: int, manifest: Manifest) -> None:
    """Keep the manifest for an epoch, the first one that comes; N begins at 0."""
    path = run_directory / FOLDER / f"epoch_{epoch:06d}.json"
    if path.exists():
        return
    write_whole(path, manifest.model_dump_json(indent=1).encode())


def noted(run_directory: Path) -> list[tuple[int, Path]]:
    """Epoch and file of each manifest that is kept, the oldest first."""
    found = sorted((run_directory / FOLDER).glob("epoch_*.json"))
    return [(int(path.stem.removeprefix("epoch_")), path) for path in found]
