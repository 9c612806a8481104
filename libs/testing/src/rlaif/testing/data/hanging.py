"""A save state that makes the emulator run forever within one frame."""

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe

_UNUSED_OPCODES = frozenset((0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD))
"""The CPU locks up at them; PyBoy executes them forever without advancing game time."""

# Layout of PyBoy's save states: 6 bytes of flags, 10 of HDMA, A F B C D E HL SP, then these.
_PC, _INTERRUPTS_ON, _HALTED = slice(26, 28), 28, 30


def hanging_keyframe(keyframe: PackedKeyframe, rom: bytes) -> PackedKeyframe:
    """Return the keyframe with its program counter at an invalid opcode.

    Args:
        keyframe: A valid keyframe of a Game Boy Color game.
        rom: Its ROM.

    Returns:
        A keyframe whose digest is correct: only running it shows that it hangs.
    """
    state = bytearray(unpack_keyframe(keyframe.data, keyframe.sha256))
    place = next(at for at in range(0x150, 0x4000) if rom[at] in _UNUSED_OPCODES)
    state[_PC] = place.to_bytes(2, "little")
    state[_INTERRUPTS_ON] = state[_HALTED] = 0
    return pack_keyframe(bytes(state))
