"""What keeps one capture from becoming a segment, with the word that dead letters carry.

ExportFault                never to be exported
├── CorruptCaptureError    the capture is damaged, or another one than the event names
├── CorruptKeyframeError   the keyframe is damaged, or another one than the capture names
├── CorruptManifestError   the stored manifest is not readable, or another segment's
├── RefusedReplayError     the replay says no; `reason` says why
└── LostReplayError        the process ended, or answered nonsense; perhaps not the next time
    └── HungReplayError    the replay did not end in its time; its process was ended
"""


class ExportFault(Exception):
    """Base of what is wrong with one capture; `reason` is a stable word for machines."""

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
    """The replay cost its process; it is tried `tries` times, as often as any event when None."""

    reason = "replay_crashed"
    tries: int | None = None


class HungReplayError(LostReplayError):
    """A state that hangs does so every time; the second try is for a machine that was busy."""

    reason = "replay_hung"
    tries = 2
