"""Meaning and fix of each kind of problem: the pages `/problems/KIND` linked by errors."""

from html import escape

KINDS = {
    "body-too-large": "The body is larger than the route accepts. Send less per request.",
    "broken-model": "The reward model is damaged or of another format. Activate another.",
    "bus-unavailable": "NATS did not answer. See the check `nats` of /readyz, and try again.",
    "champion-changed": "Another request changed the champion. Read it again, then decide again.",
    "dead-letter-refused": "The stored event cannot be sent again; the detail has the reason.",
    "disk-unavailable": "The data directory is full or not writable. Free space, then try again.",
    "environment-not-found": "Its runner stopped, or it is in another run. See GET environments.",
    "foreign-origin": "A page of another site sent it. Set RLAIF_API_TOKEN and send it instead.",
    "internal-error": "A defect of the service. Its log has the cause under the trace id.",
    "invalid-cursor": "A cursor is a `next_cursor` of the same list. Start without one.",
    "invalid-fault-plan": "The plan cannot be read; the mock LLM's README has its grammar.",
    "invalid-request": "Parameters or body are invalid; `errors` has each place, /docs the types.",
    "no-parquet": "Parquet needs pyarrow, which is not installed. Ask for JSON lines.",
    "no-screen-yet": "No trainer has sent a frame. Start a run, or wait for its first one.",
    "no-such-dead-letter": "It was sent again or expired. GET dead-letters lists the others.",
    "no-video": "The segment was exported without it, or the encoder is not installed.",
    "not-ready": "The service is still loading its store. /readyz has the reason.",
    "run-in-progress": "One run trains at a time. Stop it with POST runs/current/stop first.",
    "run-not-found": "No such run is known here. GET runs lists the known ones.",
    "service-silent": "Another service did not answer in time. See its /readyz and its log.",
    "service-unreachable": "Another service is down, or its address is wrong.",
    "service-unreadable": "Another service sent an invalid answer. Compare the versions of both.",
    "stopping": "The service is stopping. Try again after its restart.",
    "store-unavailable": "S3 or the folder cannot be read. /readyz has the reason.",
    "token-missing": "A write needs the header `Authorization: Bearer TOKEN`.",
    "token-wrong": "The token differs from RLAIF_API_TOKEN of the service.",
    "too-many-pages": "The HUD serves a limited number of pages. Close one.",
    "unknown-criterion": "The panel of judges has no such criterion. GET judges lists them.",
    "unknown-host": "The name in the address is not one of the service. Use its own name.",
    "unreadable-object": "A stored object is damaged or of a newer release; see the detail.",
    "vote-of-another": "Only the person who cast a vote can undo it.",
    "writes-disabled": "The service listens beyond loopback without a token. Set RLAIF_API_TOKEN.",
    "wrong-settings": "Settings of the run are invalid; docs/configuration.md has all of them.",
}  # fmt: skip
"""Kind → meaning and fix, without the generic kinds of HTTP statuses."""


def page(kind: str) -> str | None:
    """HTML about a kind of problem; None for an unknown one."""
    text = KINDS.get(kind)
    if text is None and kind.endswith("-not-found"):
        text = "No object has this id: it is wrong, or the object has expired."
    title = escape(kind.replace("-", " ").capitalize())
    return text and f"<!doctype html><title>{title}</title><h1>{title}</h1><p>{escape(text)}</p>"
