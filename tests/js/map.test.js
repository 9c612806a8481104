// The map's pure parts: where rooms lie, what layers say, where arrows lead.
import assert from "node:assert/strict";
import { test } from "node:test";

import { areasOf, colourOf, doing, layerAfter, layerNamed, LAYERS, mostOf, neighbour, shareOf, spoken, viridis } from "../../services/hud/src/rlaif/hud/static/js/map/layers.js";
import { roomName } from "../../services/hud/src/rlaif/hud/static/js/format.js";

const room = (group, number, more = {}) => ({
  group, room: number, name: null, dungeon: null, floor: null, column: null, line: null, width: 160, height: 128,
  entries: 1, frames: 600, seconds: 10, deaths: 0, long_stays: 0, calls: 0, last_step: 100, ...more,
});

test("rooms above the ground lie by their number, cut to what was seen", () => {
  const [area] = areasOf([room(0, 0x78), room(0, 0x67), room(0, 0x77)]);
  assert.equal(area.title, "Overworld");
  assert.equal(area.columns, 2);
  assert.deepEqual(area.rooms.map(({ key, column, line }) => [key, column, line]), [["0-103", 1, 1], ["0-119", 1, 2], ["0-120", 2, 2]]);
});

test("a dungeon's rooms lie on its floors, and what has no place stands in order on a shelf", () => {
  const areas = areasOf([
    room(5, 0xa1), room(4, 0x1c, { dungeon: 1, floor: 0, column: 4, line: 3 }), room(4, 0x14, { dungeon: 1, floor: 0, column: 4, line: 2 }),
    room(4, 0x30, { dungeon: 1, floor: 1, column: 0, line: 0 }), room(3, 0x12), room(3, 0x10), room(0, 0x77),
  ]);
  assert.deepEqual(areas.map(({ title }) => title), ["Overworld", "Dungeon 1, floor 1", "Dungeon 1, floor 2", "Caves", "Indoors"]);
  assert.deepEqual(areas[1].rooms.map(({ key, column, line }) => [key, column, line]), [["4-20", 1, 1], ["4-28", 1, 2]]);
  const indoors = areas[4];
  assert.deepEqual(indoors.rooms.map(({ key, column }) => [key, column]), [["3-16", 1], ["3-18", 2]]);
  assert.match(indoors.note, /unknown/);
});

test("arrows lead to the nearest room that way, over gaps, and never out", () => {
  const [{ rooms }] = areasOf([room(0, 0x11), room(0, 0x14), room(0, 0x21), room(0, 0x33)]);
  assert.equal(neighbour(rooms, "0-17", "ArrowRight")?.key, "0-20");
  assert.equal(neighbour(rooms, "0-17", "ArrowDown")?.key, "0-33");
  assert.equal(neighbour(rooms, "0-17", "ArrowLeft"), null);
  assert.equal(neighbour(rooms, "0-17", "Enter"), null);
  assert.equal(neighbour(rooms, "no room", "ArrowUp"), null);
});

test("the scale is logarithmic: one busy room does not wash out the others", () => {
  assert.equal(shareOf(0, 1000), 0);
  assert.equal(shareOf(1000, 1000), 1);
  assert.ok(shareOf(30, 1000) > 0.45);
  assert.equal(shareOf(5, 0), 0);
});

test("viridis goes from dark to bright and keeps to its ends", () => {
  assert.equal(viridis(0), "rgb(68 1 84)");
  assert.equal(viridis(1), "rgb(253 231 37)");
  assert.equal(viridis(2), viridis(1));
  const light = (share) => viridis(share).match(/\d+/g).map(Number).reduce((sum, part, index) => sum + part * [0.21, 0.72, 0.07][index], 0);
  for (let share = 0; share < 1; share += 0.05) assert.ok(light(share + 0.05) > light(share));
});

test("where nothing happened there is no colour, and what is not known is no 0", () => {
  const deaths = layerNamed("deaths");
  const quiet = room(0, 1);
  const deadly = room(0, 2, { deaths: 3 });
  const now = { steps: 1000 };
  assert.equal(colourOf(deaths, quiet, now, 3), null);
  assert.equal(colourOf(deaths, deadly, now, 3), viridis(1));
  const age = layerNamed("age");
  assert.equal(age.value(quiet, { steps: null }), null);
  assert.equal(age.text(quiet, { steps: null }), "—");
  assert.equal(mostOf(age, [quiet], { steps: null }), null);
  assert.equal(age.value(quiet, now), 900);
});

test("the layers follow each other in a circle, and an unknown one is the first", () => {
  let layer = LAYERS[0];
  LAYERS.forEach(() => {
    layer = layerAfter(layer);
  });
  assert.equal(layer, LAYERS[0]);
  assert.equal(layerNamed("no such"), LAYERS[0]);
  assert.equal(layerNamed(null), LAYERS[0]);
});

test("a room is called by its name, and its number stands in where there is none", () => {
  assert.equal(roomName(room(0, 0x77, { name: "Seedling" })), "Seedling");
  assert.equal(roomName(room(4, 0x0c)), "4:0x0C");
  assert.equal(spoken(room(0, 0x77, { name: "Seedling", deaths: 1, calls: 2 }), 1), "Seedling, 1 visit, 1 death, 2 language-model calls, 1 player there now");
});

test("silent, waiting and playing are told apart", () => {
  assert.deepEqual(doing(undefined), ["—", "none"]);
  assert.equal(doing({ silent_seconds: 5, still_seconds: 5 })[1], "bad");
  assert.match(doing({ silent_seconds: 0.2, still_seconds: 8 })[0], /waiting for the learner/);
  assert.deepEqual(doing({ silent_seconds: 0.2, still_seconds: 0.4 }), ["plays", "good"]);
  assert.equal(doing({ silent_seconds: 0.2, still_seconds: null })[0], "no steps yet");
});
