"""Rooms, trips and reachable tiles for tests of movement."""
