"""Plain values and arrays on disk, equal to the bit."""

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.trainer.run_folder import npz_tree


def test_a_tree_comes_back_as_it_was(tmp_path: Path):
    tree: Any = {
        "none": None,
        "flags": [True, False],
        "large": 2**190 + 1,
        "float": 0.1 + 0.2,
        "bytes": b"\x00\xff",
        "nothing": b"",
        "tuple": (1, ("a", b"b"), []),
        "set": {"x", "y"},
        3: {"nested": {"array": np.arange(6, dtype=np.float32).reshape(2, 3)}},
        "$": "a key like our own tag",
    }
    npz_tree.write(tmp_path / "a.npz", tree)
    back = npz_tree.read(tmp_path / "a.npz")
    array = back[3]["nested"].pop("array")
    assert array.dtype == np.float32
    assert (array == tree[3]["nested"].pop("array")).all()
    assert back == tree
    assert isinstance(back["tuple"], tuple)
    assert list(back) == list(tree), "in the same order"


@pytest.mark.parametrize(
    "value",
    [deque([1]), {1.5: "a"}, np.array([object()]), object()],
    ids=lambda v: type(v).__name__,
)
def test_what_would_need_pickle_is_refused(tmp_path: Path, value: object):
    with pytest.raises(TypeError):
        npz_tree.write(tmp_path / "a.npz", {"value": value})


@pytest.mark.parametrize("data", [b"", b"no file of ours", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_reported(tmp_path: Path, data: bytes):
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(npz_tree.NpzTreeError, match=r"a\.npz cannot be read"):
        npz_tree.read(tmp_path / "a.npz")
