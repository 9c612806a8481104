"""The search works without the story, and in rooms of a game that no part of the project knows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.game.memory.memory_map import address
from rlaif.testing.searching import search_until
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.settings.game import GameSettings

NOOK = Path(__file__).parents[2] / "data/nook/nook.gbc"
ESSENCE = "essence:0"
FRAMES = 400_000
"""Of the game, at most; with the seeds below it takes some 70,000, which are 20 minutes of play."""

GONE = (
    "rlaif.game.stories",
    "rlaif.game.description",
    "rlaif.guides",
    "rlaif.contracts.judging.quest",
    "rlaif.trainer.planning",
)

STRIPPED = f"""
import json, sys, tempfile
from pathlib import Path

GONE = {GONE!r}
HIDDEN = ("walkthrough", "rooms.c", "/guides/", "/docs/", "/cartridge/")

class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(GONE):
            raise ImportError(f"somebody asked for {{name}}")

def watch(event, arguments):
    if event == "open" and any(each in str(arguments[0]) for each in HIDDEN):
        raise PermissionError(f"somebody opened {{arguments[0]}}")

sys.meta_path.insert(0, Refuses())
sys.addaudithook(watch)
"""
"""Python without stories, guides, names of places, walkthrough and maps: who wants one breaks."""

PLAY = """
import numpy as np
from rlaif.game.decisions.mask import allowed
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.policy_input.writer import policy_input
from rlaif.trainer.play.decisions import DecisionStep
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.rewards.learned import curiosity, shaping
from rlaif.trainer.settings.game import GameSettings

game = GameEnv(GameSettings(actions="macros"), np.random.default_rng(1))
row = np.zeros(128, dtype=np.float32)
game.reset(row)
step, rng, paid = DecisionStep(game, gamma=0.999), np.random.default_rng(2), 0.0
for _ in range(30):
    ram = read_blocks(game.emulator)
    assert policy_input(ram, step.last, arm="macros").any()
    step.begin(int(rng.choice(np.flatnonzero(allowed(ram, "macros")))))
    while (button := step.button()) is not None:
        step.note(game.step(button, row))
    paid += abs(step.now.reward)
print(json.dumps(paid))
"""


def run(script):
    return subprocess.run(
        [sys.executable, "-c", STRIPPED + script],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_decisions_observations_and_rewards_do_not_need_them():
    done = run(PLAY)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) > 0


def test_access_to_the_removed_modules_is_detected():
    done = run("import rlaif.game.stories.story_lookup")
    assert done.returncode != 0
    assert "somebody asked for rlaif.game.stories" in done.stderr
    done = run("Path('libs/game/cartridge/walkthrough.json').read_text()")
    assert done.returncode != 0
    assert "somebody opened" in done.stderr


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A search of the second cartridge until it has the essence: folder and statistics."""
    folder = tmp_path_factory.mktemp("search")

    def is_over(figures):
        return figures.frames > FRAMES or any(each.mark == ESSENCE for each in figures.marks)

    return folder, search_until(is_over, folder, seed=1, rom=NOOK)


def test_a_search_of_unknown_rooms_finds_their_essence(searched):
    _, figures = searched
    assert ESSENCE in [each.mark for each in figures.marks], f"{figures.frames} frames"


def test_the_found_trajectory_leads_there_from_power_on(searched):
    folder, figures = searched
    node = next(each.node for each in figures.marks if each.mark == ESSENCE)
    player = Player(GameSettings(rom_path=NOOK))
    with read_tree(folder / TREE) as tree:
        way = tree.lineage(node)
        player.begin(tree.state(0))
    for decision, _ in (each for step in way for each in step.decisions):
        player.decide(decision)
    assert player.digest() == way[-1].digest
    assert player.ram.u8(address("wEssencesObtained")) == 1
    player.close()
