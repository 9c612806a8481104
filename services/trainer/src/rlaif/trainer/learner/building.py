"""Builds the demonstrations of a run in a child process of low priority."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rlaif.service.child_process import ONE_THREAD, ending
from rlaif.trainer.curriculum.building import NO_TRAJECTORY
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.curriculum.minimization import MAX_TRIAL_STEPS
from rlaif.trainer.run_folder.quest_record import DEMONSTRATIONS_FOLDER, SEARCH_FOLDER
from rlaif.trainer.settings import TrainerSettings


class DemonstrationBuild:
    """`python -m rlaif.trainer.curriculum` on the search of a run."""

    def __init__(
        self,
        settings: TrainerSettings,
        directory: Path,
        *,
        count: int,
        processes: int,
        max_trial_steps: int = MAX_TRIAL_STEPS,
    ) -> None:
        """Start the build in a run's directory; parts that are minimized already are reused."""
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
        log = search / "demonstrations.log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rlaif.trainer.curriculum", str(search)]
                + [str(each) for option in options.items() for each in option],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | ONE_THREAD,
                process_group=0,  # its workers are in the group, too, and are stopped with it
            )
        self._output = log.open(encoding="utf-8", errors="replace")
        self._line = ""

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None

    def lines(self) -> Iterator[str]:
        """Yield the lines that the process has printed since the last call."""
        for line in self._output:
            self._line = line.rstrip("\n")
            yield self._line

    def check(self) -> None:
        """Raise an error if the build failed; call it after all lines have been read.

        Raises:
            DemonstrationsError: The search contains no usable trajectory.
            RuntimeError: The build failed for another reason.
        """
        code = self._process.wait()
        if code == NO_TRAJECTORY:
            raise DemonstrationsError(self._line)
        if code:
            raise RuntimeError(f"building demonstrations: {ending(code)}: {self._line}")

    def stop(self) -> None:
        """Stop the build if it is running; demonstrations are written completely or not at all."""
        if not self.is_over:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._output.close()
