"""The game: emulator, decoding of its RAM, and capture and replay of segments.

`emulator` is the only importer of pyboy. Everything that reads the RAM (`state`, `encoder`,
`describe`) is a pure function of its bytes, so that the trainer and the exporter compute the same.
"""
