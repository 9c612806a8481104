"""The command `rlaif`: its subcommands are programs of other packages, imported when they run."""
