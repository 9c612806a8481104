"""The best episodes of a run on disk, ready to be replayed."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rlaif.files.whole import write_whole
from rlaif.trainer.play.followers.episode_log import RecordedEpisode

_FOLDER = "best_episodes"
_SUFFIX = ".episode"


@dataclass(frozen=True)
class BestEpisodes:
    """A directory of `*.episode` files, made when the first one comes; the best `keep` stay."""

    directory: Path
    keep: int

    @classmethod
    def of_run(cls, run_directory: Path, keep: int) -> "BestEpisodes":
        return cls(run_directory / _FOLDER, keep)

    def add(self, episodes: Iterable[RecordedEpisode]) -> None:
        new = list(episodes)
        if not new:
            return
        for episode in new:
            self._write(episode)
        for path, _ in self.best()[self.keep :]:
            path.unlink(missing_ok=True)

    def best(self) -> list[tuple[Path, RecordedEpisode]]:
        found = []
        for path in sorted(self.directory.glob(f"*{_SUFFIX}")):
            try:
                found.append((path, RecordedEpisode.unpack(path.read_bytes())))
            except (OSError, ValueError):
                continue
        return sorted(found, key=lambda each: each[1].rank, reverse=True)

    def _write(self, episode: RecordedEpisode) -> None:
        path = self.directory / f"{episode.whole.capture.episode_id}{_SUFFIX}"
        write_whole(path, episode.pack())
