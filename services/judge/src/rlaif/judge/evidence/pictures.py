"""The strip of a segment: its pictures out of the store, drawn with the player's path."""

from rlaif.judge.evidence.loading import CorruptSegmentError, LoadedSegment, load_pictures
from rlaif.judge.evidence.strip import draw, frames
from rlaif.judge.evidence.summary import places
from rlaif.storage.ports import ObjectStore


def load_strip(store: ObjectStore, segment: LoadedSegment, most: int) -> bytes | None:
    """A PNG of at most `most` frames; None when there is none to show. Blocks.

    Fails as `rlaif.judge.evidence.loading.load_pictures` does.
    """
    pictures = load_pictures(store, segment.manifest, most)
    if not pictures.files:
        return None
    try:
        return draw(frames(pictures.files, pictures.steps, places(segment.records)))
    except OSError as error:  # pillow's word for a picture that it cannot read
        raise CorruptSegmentError(f"a picture of the segment is no PNG: {error}") from error
