"""Builds the demonstrations of a run in a child process of low priority."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from rlaif.service.child_process import ONE_THREAD, ending
from rlaif.trainer.curriculum.building import NO_TRAJECTORY
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.curriculum.minimization import MAX_TRIAL_STEPS
from rlaif.trainer.run_folder.quest_record import DEMONSTRATIONS_FOLDER, SEARCH_FOLDER
from rlaif.trainer.settings import TrainerSettings


class DemonstrationBuild:
    """`python -m rlaif.trainer.curriculum` on the search of a run.

    Attributes:
        is_over: Whether it has ended and all its lines were read.
    """

    def __init__(
        self,
        settings: TrainerSettings,
        directory: Path,
        *,
        count: int,
        processes: int,
        max_trial_steps: int = MAX_TRIAL_STEPS,
    ) -> None:
        """Start it in a run's directory; parts that it minimized before are not minimized again."""
        search = directory / SEARCH_FOLDER
        options = {
            "--out": directory / DEMONSTRATIONS_FOLDER,
            "--minimized": search / "minimized",
            "--actions": settings.actions,
            "--rewards": settings.game.reward_preset,
            "--seed": settings.seed,
            "--count": count,
            "--workers": processes,
            "--max-trial-steps": max_trial_steps,
        }
        if settings.rom_path is not None:
            options["--rom"] = settings.rom_path
        self._log = search / "demonstrations.log"
        with self._log.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rlaif.trainer.curriculum", str(search)]
                + [str(each) for option in options.items() for each in option],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | ONE_THREAD,
                process_group=0,  # of all its processes, so that they are stopped together
            )
        self.is_over = False
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="demonstrations", daemon=True).start()

    def lines(self, seconds: float = 0.0) -> Iterator[str]:
        """Yield the lines that it prints, until there is none for some seconds."""
        with contextlib.suppress(queue.Empty):
            while not self.is_over:
                line = self._lines.get(timeout=seconds)
                self.is_over = line is None
                if line is not None:
                    yield line

    def check(self) -> None:
        """Wait for its end.

        Raises:
            DemonstrationsError: The search contains no usable trajectory.
            RuntimeError: It failed for another reason.
        """
        code = self._process.wait()
        if code == 0:
            return
        *_, reason = ["", *self._log.read_text(errors="replace").splitlines()]
        if code == NO_TRAJECTORY:
            raise DemonstrationsError(reason)
        raise RuntimeError(f"building demonstrations ended with {ending(code)}: {reason}")

    def stop(self) -> None:
        """End it, if necessary; its output is written completely or not at all."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)
