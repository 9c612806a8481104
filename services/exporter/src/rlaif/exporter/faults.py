"""Faults of one capture, with the reason codes of dead letters."""


class ExportFault(Exception):
    """The capture can never be exported.

    Its reason is corrupt_capture, corrupt_keyframe, corrupt_manifest, or one of
    `replay_process.REASONS`.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class LostReplayError(ExportFault):
    """The replay ended its process or sent an invalid answer; it may succeed later.

    Attributes:
        tries: Maximum number of attempts; None for the default.
    """

    tries: int | None = None

    def __init__(self, detail: str, *, reason: str = "replay_crashed") -> None:
        super().__init__(reason, detail)


class HungReplayError(LostReplayError):
    """A hanging state always hangs; the second attempt covers a busy machine."""

    tries = 2

    def __init__(self, detail: str) -> None:
        super().__init__(detail, reason="replay_hung")
