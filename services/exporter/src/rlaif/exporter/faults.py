"""What keeps one capture from becoming a segment, with the word that dead letters carry.

ExportFault                never to be exported
├── CorruptCaptureError    the capture is not the one that the event names
├── CorruptKeyframeError   the keyframe is not the one that the capture names
├── CorruptManifestError   the stored manifest is none, or another segment's
├── RefusedReplayError     the replay says no; `reason` says why
└── LostReplayError        the replay cost its process; perhaps not the next time
    └── HungReplayError    it was not done in the time that its frames take in the game
"""


class ExportFault(Exception):
    """Base of what is wrong with one capture.

    Attributes:
        reason: Stable word for machines, such as `ram_hash_mismatch`.
    """

    reason: str


class CorruptCaptureError(ExportFault):
    """The capture is damaged, or another one than the event names."""

    reason = "corrupt_capture"


class CorruptKeyframeError(ExportFault):
    """The keyframe is damaged, or another one than the capture names."""

    reason = "corrupt_keyframe"


class CorruptManifestError(ExportFault):
    """A stored manifest is not readable, or is another segment's."""

    reason = "corrupt_manifest"


class RefusedReplayError(ExportFault):
    """The capture can never be exported."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class LostReplayError(ExportFault):
    """The process ended, or answered nonsense, while it replayed.

    Attributes:
        tries: How often the capture is tried in all; as often as any event when None.
    """

    reason = "replay_crashed"
    tries: int | None = None


class HungReplayError(LostReplayError):
    """The replay did not end in its time; its process was ended.

    A state that hangs does so every time; the second try is for a machine that was busy.
    """

    reason = "replay_hung"
    tries = 2
