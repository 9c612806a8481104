"""The game: an emulator, what its RAM means, and how a stretch of play is captured and replayed.

`emulator` is the only importer of pyboy. Everything that reads the RAM (`state`, `encoder`,
`describe`) is a pure function of its bytes, so that the trainer and the exporter compute the same.
"""
