"""Objects of an exported segment; the manifest is the commit point."""

from typing import Any, Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.model import Contract, Id, Sha256


class StoredFile(Contract):
    """One object of the segment."""

    key: str
    sha256: Sha256
    size_bytes: int = Field(ge=0)


class SegmentManifest(Contract):
    """`{episode_id}/{segment_id}/manifest.json`: the segment exists once this object exists."""

    schema_version: Literal[1] = 1
    segment_id: Id
    episode_id: Id
    run_id: Id
    capture_key: str
    capture_sha256: Sha256
    rom_sha256: Sha256
    layout_version: str
    frames: int = Field(ge=1, description="Game frames at 60 Hz.")
    decision_steps: int = Field(ge=1, description="T of observations.npy, lines of states.jsonl.")
    frame_skip: int = Field(ge=1)
    start_step: int = Field(ge=0)
    ended: Literal["running", "terminated", "truncated"]
    end_ram_sha256: Sha256 = Field(description="Equal in capture and replay.")
    states: StoredFile
    observations: StoredFile
    pictures: tuple[StoredFile, ...]
    picture_steps: tuple[int, ...] = Field(description="Emulator step before each picture.")
    exporter_version: str
    env_step: int = Field(ge=0)
    created_at: AwareDatetime
    film: StoredFile | None = Field(
        default=None,
        description="Every emulator step's picture, lossless, in one object "
        "(`rlaif.contracts.game.films`); null in manifests of older exporters and without films.",
    )


class StateRecord(Contract):
    """One line of states.jsonl: the game after one emulator step.

    `state` is the description by `rlaif.game.description`, without rewards and policy.
    """

    step: int = Field(ge=0, description="Emulator step inside the segment, from 0.")
    frame: int = Field(ge=0, description="Game frame inside the segment, after the step.")
    action: str
    state: dict[str, Any]
