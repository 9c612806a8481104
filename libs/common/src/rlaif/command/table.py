"""All subcommands of `rlaif`, by group."""

from typing import NamedTuple

_CHECK = "rlaif.game.replay_check.checks:main"
_LOCAL = "rlaif.local.__main__:main"
_DEMONSTRATIONS = "rlaif.trainer.curriculum.__main__:main"
_MINARI = "rlaif.trainer.curriculum.minari_dataset:main"


class Subcommand(NamedTuple):
    """A program: its function `module:function` reads `sys.argv` and returns the exit code."""

    summary: str
    target: str

    @property
    def distribution(self) -> str:
        """Its distribution: `rlaif.reward_model.x` belongs to `rlaif-reward-model`."""
        return "rlaif-" + self.target.split(".")[1].replace("_", "-")


GROUPS = {
    "The whole pipeline": {
        "demo": Subcommand("run it on this machine until Ctrl-C", _LOCAL),
        "status": Subcommand("show the state of a running pipeline", "rlaif.client.status:main"),
        "doctor": Subcommand(
            "check all stored objects and events", "rlaif.local.doctor.__main__:main"
        ),
    },
    "Training and evaluation": {
        "train": Subcommand("train, without the other services", "rlaif.trainer.service.cli:main"),
        "evaluate": Subcommand("evaluate, show or film a policy", "rlaif.trainer.evaluate:main"),
        "demonstrations": Subcommand("build demonstrations from a search", _DEMONSTRATIONS),
        "dataset": Subcommand("write demonstrations as a Minari dataset", _MINARI),
        "judge-epoch": Subcommand("score all segments of an epoch", "rlaif.judge.epoch:main"),
        "export": Subcommand("write the curves of a run as CSV", "rlaif.client.export:main"),
    },
    "Games": {
        "play": Subcommand("play a game yourself", "rlaif.game.play.command:main"),
        "world": Subcommand("generate a world from a seed", "rlaif.game.worlds.command:main"),
        "inspect": Subcommand("identify a ROM or save state", "rlaif.game.inspection:main"),
        "replay-check": Subcommand("test whether a ROM replays exactly", _CHECK),
    },
    "This command": {
        "completion": Subcommand(
            "print a script for bash and zsh", "rlaif.command.completion:main"
        ),
        "version": Subcommand(
            "print the installed versions", "rlaif.command.__main__:show_versions"
        ),
    },
}

SUBCOMMANDS = {name: each for group in GROUPS.values() for name, each in group.items()}
