"""Looks for what an episode shows for the first time: rooms entered, story steps reached."""

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.stories.milestones import Story, milestones_reached
from rlaif.trainer.play.capturing.selection import FirstSightings
from rlaif.trainer.rewards.game.facts import GameFacts


class FirstSightingsReader:
    """Follows one environment, segment by segment."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._known_rooms: set[int] = set()
        self._known_steps: set[str] = set()
        self._entered: list[int] = []
        self._place = (-1, -1)

    def begin_episode(self, facts: GameFacts, ram: RamBlocks) -> None:
        self._known_steps = {step.name for step in milestones_reached(ram, self._story)}
        self._known_rooms = {facts.room_index}
        self._entered = []
        self._place = (facts.group, facts.room)

    def note_step(self, facts: GameFacts) -> None:
        """One step later; about 0.1 µs while he stays in his room."""
        if (facts.group, facts.room) == self._place or not facts.settled:
            return
        self._place = (facts.group, facts.room)
        if facts.room_index not in self._known_rooms:
            self._known_rooms.add(facts.room_index)
            self._entered.append(facts.room_index)

    def collect(self, ram: RamBlocks) -> FirstSightings:
        """What is new since the last call; about 10 µs. For the end of each segment."""
        found = {step.name for step in milestones_reached(ram, self._story)}
        sightings = FirstSightings(tuple(self._entered), tuple(sorted(found - self._known_steps)))
        self._known_steps |= found
        self._entered = []
        return sightings
