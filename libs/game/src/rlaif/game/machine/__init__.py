"""The machine: cartridges, emulator, actions, pictures. The only importer of PyBoy."""
