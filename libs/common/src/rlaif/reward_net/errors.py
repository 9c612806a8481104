"""The error of a rejected reward network."""

MAX_DETAIL = 1000


class RewardNetError(ValueError):
    """The artifact is rejected; the live network remains in use.

    `reason` is a stable code, such as `too_large`, `hash_mismatch`, `not_safetensors`,
    `bad_metadata`, `wrong_layout`, `wrong_tensors`, `not_finite`, `constant`, `wrong_answers`,
    `wrong_version` or `unreadable`. `detail` may quote the file; it is truncated and published.
    """

    def __init__(self, reason: str, detail: str) -> None:
        detail = detail[:MAX_DETAIL]
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
