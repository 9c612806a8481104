"""The pytest plugin of the workspace: `-p rlaif.testing.plugin` brings every fixture below.

Servers start with the first test that asks for them.
"""

from rlaif.testing.nats_server import bus, guarded_nats, nats_server, nats_url
from rlaif.testing.s3_server import (
    _s3_stores,
    episodes_store,
    file_store,
    models_store,
    s3,
    s3_server,
)

__all__ = [
    "_s3_stores",
    "bus",
    "episodes_store",
    "file_store",
    "guarded_nats",
    "models_store",
    "nats_server",
    "nats_url",
    "s3",
    "s3_server",
]
