"""Brings streams and consumers in line with the settings: what one administrator does, no service.

Only what loses no event is changed: the copies and the room of a stream, and how a consumer hands
out. Whatever else differs is told, and changed by hand.
"""

from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, StreamConfig

from rlaif.bus.topology import Part, TopologySettings, ensure_parts

_OF_A_STREAM = ("num_replicas", "max_bytes")
_OF_A_CONSUMER = ("ack_wait", "max_ack_pending")


async def align_topology(js: JetStreamContext, settings: TopologySettings) -> list[str]:
    """Create what is missing, change what may be changed, and say of each part what was done."""
    return [await _align(js, part) for part in await ensure_parts(js, settings)]


async def _align(js: JetStreamContext, part: Part) -> str:
    if part.made:
        return f"{part.title}: made"
    changed = await _change(js, part)
    said = [
        f"changed {name} from {getattr(part.found, name)} to {getattr(part.wanted, name)}"
        if name in changed
        else f"has {name}={have}, this release expects {want}: kept, change it by hand"
        for name, (want, have) in part.differences().items()
    ]
    return f"{part.title}: {'; '.join(said) or 'found'}"


async def _change(js: JetStreamContext, part: Part) -> set[str]:
    """Change the fields that differ and may; their names."""
    wanted, found = part.wanted, part.found
    if isinstance(wanted, StreamConfig) and isinstance(found, StreamConfig):
        fields = set(_OF_A_STREAM) & part.differences().keys()
        # A limit below what is held would make the server drop events.
        if "max_bytes" in fields and 0 < (wanted.max_bytes or 0) < await _held(js, part.stream):
            fields.remove("max_bytes")
        if fields:
            await js.update_stream(found.evolve(**{each: getattr(wanted, each) for each in fields}))
        return fields
    assert isinstance(found, ConsumerConfig)
    fields = set(_OF_A_CONSUMER) & part.differences().keys()
    if fields:
        values = {each: getattr(wanted, each) for each in fields}
        await js.add_consumer(part.stream, found.evolve(**values))
    return fields


async def _held(js: JetStreamContext, stream: str) -> int:
    return (await js.stream_info(stream)).state.bytes
