"""Faults of one capture, with the reason codes of dead letters.

ExportFault                never to be exported
├── CorruptCaptureError    the capture is damaged or differs from the event
├── CorruptKeyframeError   the keyframe is damaged or differs from the capture
├── CorruptManifestError   the stored manifest is invalid or of another segment
├── RefusedReplayError     the replay rejects it with a `reason`
└── LostReplayError        the process ended or sent an invalid answer; may succeed later
    └── HungReplayError    the replay timed out; its process was killed
"""


class ExportFault(Exception):
    """Base class; `reason` is a stable code."""

    reason: str


class CorruptCaptureError(ExportFault):
    """The bytes are not those that were meant."""

    reason = "corrupt_capture"


class CorruptKeyframeError(ExportFault):
    """The bytes are not those that were meant."""

    reason = "corrupt_keyframe"


class CorruptManifestError(ExportFault):
    """The bytes are not those that were meant."""

    reason = "corrupt_manifest"


class RefusedReplayError(ExportFault):
    """The capture can never be exported."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class LostReplayError(ExportFault):
    """The replay ended its process; at most `tries` attempts, or the default if None."""

    reason = "replay_crashed"
    tries: int | None = None


class HungReplayError(LostReplayError):
    """A hanging state always hangs; the second attempt covers a busy machine."""

    reason = "replay_hung"
    tries = 2
