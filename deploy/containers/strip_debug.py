"""Cut off debug information and symbols, which no program loads, from shared libraries (ELF).

    python3 strip_debug.py /opt/rlaif/lib/python3.12/site-packages/pyboy

Does what `strip` of binutils does, which no slim base image has: a library ends where its last
segment ends, and has no table of sections. 141 MB of PyBoy's libraries become 16.
"""

import shutil
import struct
import sys
from pathlib import Path

_ELF = b"\x7fELF\x02\x01"  # 64 bit, little endian
_SECTIONS_AT, _SECTION_COUNTS = 40, 58
_SEGMENTS_AT, _SEGMENT_COUNTS = 32, 54


def strip(library: Path) -> None:
    """Keep what the library's segments cover; the loader reads nothing else."""
    data = bytearray(library.read_bytes())
    if not data.startswith(_ELF):
        sys.exit(f"{library} is no 64-bit ELF library")
    (first,) = struct.unpack_from("<Q", data, _SEGMENTS_AT)
    size, count = struct.unpack_from("<HH", data, _SEGMENT_COUNTS)
    ends = (sum(struct.unpack_from("<8xQ16xQ", data, first + at * size)) for at in range(count))
    struct.pack_into("<Q", data, _SECTIONS_AT, 0)
    struct.pack_into("<HHH", data, _SECTION_COUNTS, 0, 0, 0)
    # Another file: an installer may share this one with its cache.
    new = library.with_suffix(".new")
    new.write_bytes(data[: max(ends)])
    shutil.copymode(library, new)
    new.replace(library)


for folder in sys.argv[1:]:
    for found in sorted(Path(folder).rglob("*.so")):
        strip(found)
