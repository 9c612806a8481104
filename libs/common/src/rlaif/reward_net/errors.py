"""What loading a reward network raises.

RewardNetError    the file is not a network that may shape rewards; `reason` says which check failed
"""

MAX_DETAIL = 1000


class RewardNetError(ValueError):
    """The artifact is rejected; the live network stays.

    Attributes:
        reason: Stable code: `too_large`, `hash_mismatch`, `not_safetensors`,
            `bad_metadata`, `wrong_layout`, `wrong_tensors`, `not_finite`, `constant`,
            `wrong_answers`, `wrong_version`, `unreadable`.
        detail: What was found, what was expected and what to do; cut at `MAX_DETAIL` characters,
            because it may quote the file and is published on NATS.
    """

    def __init__(self, reason: str, detail: str) -> None:
        detail = detail[:MAX_DETAIL]
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
