"""The labels of a study: segments that a run captured, labelled by the mock LLM's expert."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from played_segments import FRAME_SKIP, PlayedSegment
from rm_labels import Seen, see

from rlaif.game.captures.replay import replay
from rlaif.game.description.describe import describe
from rlaif.game.description.words import words_of
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import new_emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.state import decode
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.fit.sides import position
from rlaif.reward_model.learning.settings import GateSettings
from rlaif.trainer.run_folder.spool import SpooledCapture

GATE = GateSettings(simple_margin=-0.1)
GROWTH = 1.25


class Labels:
    """Segments that the run captured, as judges see them.

    Attributes:
        seen: In the order of their capture.
        trained: Number of segments at the last training.
    """

    def __init__(self, seen: Sequence[Seen] = ()) -> None:
        self.seen = list(seen)
        self.trained = 0
        self._cartridge = load_cartridge()
        self._emulator = new_emulator(self._cartridge)
        self._words = words_of(self._cartridge.game, self._cartridge.data)

    @property
    def is_due(self) -> bool:
        return len(self.seen) >= max(GATE.min_labels, self.trained * GROWTH)

    def add(self, captured: SpooledCapture) -> None:
        capture, emulator = captured.capture, self._emulator
        played = replay(emulator, capture, captured.keyframe, rom_sha256=self._cartridge.sha256)
        assert capture.frame_skip == FRAME_SKIP
        moments = (read_blocks(emulator) for _ in played)
        self.add_moments(capture.segment_id, capture.episode_id, capture.start_step, moments)

    def add_moments(
        self, segment: str, episode: str, start: int, moments: Iterable[RamBlocks]
    ) -> None:
        """Add a segment that starts at this step of its episode, by the RAM after each step."""
        rows, states = [], []
        for ram in moments:
            rows.append(encode(ram))
            states.append(describe(decode(ram), self._words))
        self.seen.append(see(PlayedSegment(segment, episode, "", start, np.stack(rows), states)))

    def close(self) -> None:
        self._emulator.close()


def exchanged(labels: Sequence[LabelledSegment], seed: int) -> list[LabelledSegment]:
    """The labels, each with the judgement of another segment.

    Each segment has a fixed random rank, and gets the judgement of that rank by its position on the
    quest. So the judgements are those of the labels, they mean nothing at any time, and they change
    as little from training to training as a judge's do.
    """
    by_position = sorted(labels, key=lambda item: item.positions or (-1.0, -1.0))
    by_chance = sorted(labels, key=lambda item: position(f"{seed} {item.segment_id}"))
    return [
        replace(
            item, values=given.values, doubts=given.doubts, positions=given.positions,
            score_sha256=given.score_sha256,
        )
        for item, given in zip(by_chance, by_position, strict=True)
    ]  # fmt: skip
