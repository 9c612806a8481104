"""Saves states with PyBoy's own code, without a Python call per byte.

PyBoy's `save_state` writes a state into an `IntIOWrapper`, which calls the `write` of a Python file
for each of its 186,000 bytes: 18 ms to save, 6 ms to load. Here PyBoy writes the same bytes into an
`IntIOInterface` whose methods numba compiled: 0.4 and 0.7 ms.

A compiled Cython class publishes the table of its C methods as `__pyx_vtable__`, in the order in
which its .pxd file declares them; other Cython modules call them through it. In the same way, this
module calls `Motherboard.save_state` and `load_state` with an object that has its own table. The
order is known for one version of PyBoy; other versions are rejected.
"""

import ctypes
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from pyboy.core.mb import Motherboard
from pyboy.utils import IntIOInterface, IntIOWrapper

_PYBOY = "2.8.1"
"""The version whose .pxd files this module follows."""

_WRITE, _WRITE_32, _READ, _READ_32, _FLUSH, _METHODS = 0, 2, 4, 6, 9, 11
"""Methods of `IntIOInterface` (pyboy/utils.pxd); other widths call `write` and `read`."""

_WRAPPED = {0, 4, 8, 9, 10}
"""The methods that `IntIOWrapper` overrides."""

_SAVE, _LOAD, _BOARD_METHODS = 14, 15, 16
"""`Motherboard` (pyboy/core/mb.pxd)."""

_HEADER_WORDS = object.__basicsize__ // 8
_BASE, _AT, _END, _ENDED, _WORDS = 11, 12, 13, 14, 15
"""Words after the methods of the own table: address of the bytes, offset of the next one, number
of bytes, whether more were requested."""

_LARGEST = 1 << 20
"""Bytes; a state with 128 kB of cartridge RAM has 330,000."""


class UnknownPyBoyError(Exception):
    """This PyBoy has another layout: its own functions save and load."""


class FastStates:
    """Saves and loads the states of all emulators of a process, one at a time.

    Not thread-safe. The constructor may raise UnknownPyBoyError.
    """

    def __init__(self) -> None:
        if version("pyboy") != _PYBOY:
            raise UnknownPyBoyError(f"PyBoy is {version('pyboy')}, expected {_PYBOY}")
        methods = _table(IntIOInterface, _METHODS)
        wrapped = _table(IntIOWrapper, _METHODS)
        if {at for at in range(_METHODS) if methods[at] != wrapped[at]} != _WRAPPED:
            raise UnknownPyBoyError("IntIOInterface has other methods")
        self._io = IntIOInterface(None)
        table_of_io = ctypes.c_void_p.from_address(id(self._io) + object.__basicsize__)
        if table_of_io.value != ctypes.addressof(methods):
            raise UnknownPyBoyError("IntIOInterface keeps its table elsewhere")
        self._buffer = np.zeros(_LARGEST, dtype=np.uint8)
        self._compiled = _compile()  # numba frees functions to which nothing refers
        self._words = np.zeros(_WORDS, dtype=np.int64)
        self._words[:_METHODS] = methods[:]
        for at, function in self._compiled.items():
            self._words[at] = function.address
        table_of_io.value = self._words.ctypes.data
        board = _table(Motherboard, _BOARD_METHODS)
        call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object)
        self._save: Callable[[Any, Any], int] = call(board[_SAVE])
        self._load: Callable[[Any, Any], int] = call(board[_LOAD])

    def save(self, pyboy: Any) -> bytes:
        """The bytes that `pyboy.save_state` writes."""
        self._point_to(self._buffer)
        self._save(pyboy.sgb.mb, self._io)
        if self._words[_ENDED]:
            raise ValueError(f"a state of more than {_LARGEST} bytes")
        return self._buffer[: self._words[_AT]].tobytes()

    def load(self, pyboy: Any, state: bytes) -> None:
        """Load a state as `pyboy.load_state` does; ValueError if the state is truncated."""
        self._point_to(np.frombuffer(state, dtype=np.uint8))
        try:
            self._load(pyboy.sgb.mb, self._io)
        finally:
            if self._words[_ENDED]:  # the zeros read after the end may be rejected, too
                raise ValueError(f"the state ends after {len(state)} bytes")

    def _point_to(self, given: Any) -> None:
        self._words[_BASE:] = given.ctypes.data, 0, given.size, 0


def _table(cython_class: type, methods: int) -> Any:
    """The table of C methods of a class, as an array of their addresses."""
    capsule = cython_class.__dict__.get("__pyx_vtable__")
    if capsule is None:
        raise UnknownPyBoyError(f"{cython_class.__name__} is not compiled")
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return (ctypes.c_void_p * methods).from_address(pointer_of(capsule, None))


def _compile() -> dict[int, Any]:
    """Index in the table → C function; the last argument is Cython's `skip_dispatch`."""
    io, skip = types.voidptr, types.int32
    return {
        _WRITE: _c_function(types.int64(io, types.uint8, skip), _writer(np.uint8)),
        _WRITE_32: _c_function(types.int64(io, types.uint32, skip), _writer(np.uint32)),
        _READ: _c_function(types.uint8(io, skip), _reader(np.uint8)),
        _READ_32: _c_function(types.uint32(io, skip), _reader(np.uint32)),
        _FLUSH: _c_function(types.int32(io, skip), _flush),
    }


def _c_function(signature: Any, function: Callable[..., Any]) -> Any:
    try:
        return numba.cfunc(signature, cache=True, error_model="numpy")(function)
    except RuntimeError:  # numba found no writable cache directory
        return numba.cfunc(signature, error_model="numpy")(function)


def _typed_pointer(_: Any, address: Any) -> tuple[Any, Callable[..., Any]]:
    def as_pointer(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), as_pointer


_pointer: Any = intrinsic(_typed_pointer)
"""Converts an address to a pointer."""


def _table_of(io: Any) -> Any:
    """The own table, to which the first word after the header of the object points."""
    table = numba.carray(io, (_HEADER_WORDS + 1,), np.int64)[_HEADER_WORDS]
    return numba.carray(_pointer(table), (_WORDS,), np.int64)


_words_of: Any = numba.njit(error_model="numpy", forceinline=True)(_table_of)


def _writer(width: Any) -> Callable[..., Any]:
    size: int = np.dtype(width).itemsize

    def write(io: Any, value: Any, _: Any) -> int:
        words = _words_of(io)
        at = words[_AT]
        if at + size > words[_END]:
            words[_ENDED] = 1
            return 0
        numba.carray(_pointer(words[_BASE] + at), (1,), width)[0] = value
        words[_AT] = at + size
        return size

    return write


def _reader(width: Any) -> Callable[..., Any]:
    size = np.dtype(width).itemsize

    def read(io: Any, _: Any) -> Any:
        words = _words_of(io)
        at = words[_AT]
        if at + size > words[_END]:
            words[_ENDED] = 1
            return width(0)
        words[_AT] = at + size
        return numba.carray(_pointer(words[_BASE] + at), (1,), width)[0]

    return read


def _flush(_io: Any, _: Any) -> int:
    return 0
