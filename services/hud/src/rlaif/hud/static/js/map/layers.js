// What the map's panels share: areas and layers (pure), and the view: rooms, players, and what the address chooses.

import { Answer, authorised, GivenUp } from "../api.js";
import { compact, count, duration, messageOf, roomName, UNKNOWN } from "../format.js";

/**
 * @typedef {{steps: number | null}} Now  environment steps of the run now
 * @typedef {{name: string, label: string, field: string, help: string, value: (room: Room, now: Now) => number | null, text: (room: Room, now: Now) => string}} Layer
 */

/** @type {readonly Layer[]} */
export const LAYERS = [
  { name: "rooms", label: "Rooms", field: "entries", help: "Room pictures, with the number of visits.", value: () => null, text: ({ entries }) => compact(entries) },
  { name: "visits", label: "Visits", field: "entries", help: "Number of times a player entered the room or started an episode there.", value: ({ entries }) => entries, text: ({ entries }) => compact(entries) },
  { name: "time", label: "Time", field: "seconds", help: "Game time spent in the room.", value: ({ seconds }) => seconds, text: ({ seconds }) => duration(seconds) },
  { name: "deaths", label: "Deaths", field: "deaths", help: "Number of deaths in the room.", value: ({ deaths }) => deaths, text: ({ deaths }) => `✕ ${count(deaths)}` },
  { name: "stuck", label: "Stuck", field: "long_stays", help: "Stays of at least one minute of game time.", value: ({ long_stays: stays }) => stays, text: ({ long_stays: stays }) => `▽ ${count(stays)}` },
  { name: "age", label: "Age", field: "last_step", help: "Environment steps since the last visit; brighter means longer ago.", value: ({ last_step: last }, { steps }) => sinceThen(last, steps), text: ({ last_step: last }, { steps }) => compact(sinceThen(last, steps)) },
  { name: "llm", label: "LLM calls", field: "calls", help: "Requests to the planner's language model in this room.", value: ({ calls }) => calls, text: ({ calls }) => `◇ ${count(calls)}` },
];

const sinceThen = (last, steps) => (steps === null ? null : Math.max(0, steps - last));

/** @param {string | null} name */
export const layerNamed = (name) => LAYERS.find((layer) => layer.name === name) ?? LAYERS[0];

/** @param {Layer} layer */
export const layerAfter = (layer) => LAYERS[(LAYERS.indexOf(layer) + 1) % LAYERS.length];

// Viridis at nine even places (matplotlib, CC0): even in lightness, and told apart by the colour-blind.
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];

/** The colour of a share between 0 and 1. @param {number} share */
export function viridis(share) {
  const at = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const mixed = VIRIDIS[low].map((part, index) => Math.round(part + (at - low) * (VIRIDIS[low + 1][index] - part)));
  return `rgb(${mixed.join(" ")})`;
}

/** Where a value stands between nothing and the most, by its logarithm: one busy room does not wash out the others. @param {number} value @param {number} most */
export const shareOf = (value, most) => (most > 0 ? Math.log1p(Math.max(0, value)) / Math.log1p(most) : 0);

/** The most of a layer, over all rooms; null when nothing is known. @param {Layer} layer @param {readonly Room[]} rooms @param {Now} now */
export function mostOf(layer, rooms, now) {
  const values = rooms.map((room) => layer.value(room, now)).filter((value) => value !== null);
  return values.length ? Math.max(...values) : null;
}

/** The colour of a room in a layer; null: the layer has none, or nothing happened there. @param {Layer} layer @param {Room} room @param {Now} now @param {number | null} most */
export function colourOf(layer, room, now, most) {
  const value = layer.value(room, now);
  return value === null || most === null || value === 0 ? null : viridis(shareOf(value, most));
}

/** A room in words, for who does not see the map. @param {Room} room @param {number} players */
export function spoken(room, players) {
  const parts = [roomName(room), `${count(room.entries)} ${room.entries === 1 ? "visit" : "visits"}`];
  if (room.deaths) parts.push(`${count(room.deaths)} ${room.deaths === 1 ? "death" : "deaths"}`);
  if (room.long_stays) parts.push(`${count(room.long_stays)} long ${room.long_stays === 1 ? "stay" : "stays"}`);
  if (room.calls) parts.push(`${count(room.calls)} language-model ${room.calls === 1 ? "call" : "calls"}`);
  if (players) parts.push(`${count(players)} ${players === 1 ? "player" : "players"} there now`);
  return parts.join(", ");
}

const SILENT = 3; // seconds; runners are reported every second
const STILL = 3;

/** What an environment does, by its runner's signs: [word, tone]. @param {{silent_seconds: number, still_seconds: number | null} | undefined} sign @returns {[string, string]} */
export function doing(sign) {
  if (!sign) return [UNKNOWN, "none"];
  if (sign.silent_seconds > SILENT) return [`silent for ${duration(sign.silent_seconds)}`, "bad"];
  if (sign.still_seconds === null) return ["no steps yet", "none"];
  if (sign.still_seconds > STILL) return [`waiting for the learner, ${duration(sign.still_seconds)}`, "warn"];
  return ["plays", "good"];
}

/**
 * @typedef {{group: number, room: number, name: string | null, dungeon: number | null, floor: number | null, column: number | null, line: number | null, width: number, height: number, [figure: string]: any}} Room
 * @typedef {{room: Room, key: string, column: number, line: number}} Placed  column and line from 1
 * @typedef {{key: string, title: string, note: string, columns: number, rooms: Placed[]}} Area
 */

const GRID = 16; // rooms of a line above the ground; a room's number is its place
const SHELF = 8; // rooms of a line where nothing says where they lie
const ABOVE = { 0: "Overworld", 1: "Subrosia" };
const INSIDE = { 2: "Indoors", 3: "Indoors", 4: "Caves", 5: "Caves", 6: "Side views", 7: "Side views" };

/** @param {{group: number, room: number}} room */
export const keyOf = ({ group, room }) => `${group}-${room}`;

/** All areas, those above the ground first, then floors of dungeons, then what has no map. @param {readonly Room[]} rooms @returns {Area[]} */
export function areasOf(rooms) {
  /** @type {Map<string, {title: string, note: string, order: number, rooms: Room[], placed: boolean}>} */
  const found = new Map();
  for (const room of rooms) {
    const { key, ...area } = areaOf(room);
    const known = found.get(key) ?? { ...area, rooms: [] };
    known.rooms.push(room);
    found.set(key, known);
  }
  return [...found].sort(([a, one], [b, other]) => one.order - other.order || a.localeCompare(b, "en", { numeric: true }))
    .map(([key, { title, note, rooms: inside, placed }]) => ({ key, title, note, ...(placed ? onGrid(inside) : onShelf(inside)) }));
}

/** @param {Room} room */
function areaOf(room) {
  const { group, dungeon, floor, column } = room;
  if (group in ABOVE) return { key: `above-${group}`, title: ABOVE[/** @type {0 | 1} */ (group)], note: "", order: group, placed: true };
  if (dungeon !== null && floor !== null && column !== null) {
    return { key: `dungeon-${dungeon}-${floor}`, title: `Dungeon ${dungeon}, floor ${floor + 1}`, note: "", order: 10, placed: true };
  }
  const title = INSIDE[/** @type {2} */ (group)] ?? `Group ${group}`;
  return { key: title, title, note: "sorted by number; positions unknown", order: 20, placed: false };
}

/** @param {Room[]} rooms */
function onGrid(rooms) {
  const at = (/** @type {Room} */ room) => (room.column === null || room.group in ABOVE ? { column: room.room % GRID, line: Math.floor(room.room / GRID) } : { column: room.column, line: /** @type {number} */ (room.line) });
  const places = rooms.map((room) => ({ room, ...at(room) }));
  const left = Math.min(...places.map(({ column }) => column));
  const top = Math.min(...places.map(({ line }) => line));
  const columns = Math.max(...places.map(({ column }) => column)) - left + 1;
  const placed = places.map(({ room, column, line }) => ({ room, key: keyOf(room), column: column - left + 1, line: line - top + 1 }));
  return { columns, rooms: inOrder(placed) };
}

/** @param {Room[]} rooms */
function onShelf(rooms) {
  const sorted = [...rooms].sort((a, b) => a.group - b.group || a.room - b.room);
  const columns = Math.min(SHELF, sorted.length);
  return { columns, rooms: sorted.map((room, index) => ({ room, key: keyOf(room), column: (index % columns) + 1, line: Math.floor(index / columns) + 1 })) };
}

/** As one reads. @param {Placed[]} placed */
const inOrder = (placed) => placed.sort((a, b) => a.line - b.line || a.column - b.column);

/** The room to which an arrow leads: the nearest in that direction, in this area. @param {readonly Placed[]} rooms @param {string} from  key of a room @param {string} arrow  "ArrowUp" */
export function neighbour(rooms, from, arrow) {
  const here = rooms.find(({ key }) => key === from);
  const [across, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[arrow] ?? [0, 0];
  if (!here || (!across && !down)) return null;
  const along = (/** @type {Placed} */ { column, line }) => (column - here.column) * across + (line - here.line) * down;
  const aside = (/** @type {Placed} */ { column, line }) => Math.abs((column - here.column) * down) + Math.abs((line - here.line) * across);
  const ahead = rooms.filter((room) => along(room) > 0);
  return ahead.reduce((best, room) => (best === null || along(room) + 2 * aside(room) < along(best) + 2 * aside(best) ? room : best), /** @type {Placed | null} */ (null));
}

export const MAP = "/api/v1/map";
export const ENVIRONMENTS = "/api/v1/environments";
const ROOMS_EVERY = 3000; // ms; the reporting interval of the trainer
const PLAYERS_EVERY = 1000;

export class View {
  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** @type {Answer | undefined} */
  #rooms;
  /** @type {Answer | undefined} */
  #players;
  /** Why the selected screen cannot be shown. @type {string | null} */
  refusal = null;

  /** @param {import("../app.js").App} app @param {URLSearchParams} query */
  constructor(app, query) {
    this.app = app;
    this.layer = layerNamed(query.get("layer"));
    this.room = query.get("room");
  }

  /** Ask for rooms and players until the scope ends. @param {import("../dom.js").Scope} scope */
  open(scope) {
    const { app } = this;
    this.#rooms = new Answer(app, scope, { path: MAP, every: ROOMS_EVERY }).watch(() => this.#changed());
    this.#players = new Answer(app, scope, { path: ENVIRONMENTS, every: PLAYERS_EVERY }).watch(() => this.#changed());
  }

  /** Call `draw()` after each change. @param {() => void} draw */
  watch(draw) {
    this.#watchers.add(draw);
    return () => this.#watchers.delete(draw);
  }

  /** The response of `MAP`; null before the first one. */
  get world() {
    return this.#rooms?.value ?? null;
  }

  /** The response of `ENVIRONMENTS`. */
  get positions() {
    return this.#players?.value ?? null;
  }

  /** Why the last request failed; null if it did not. */
  get problem() {
    return this.#rooms?.problem ?? this.#players?.problem ?? null;
  }

  /** @returns {readonly any[]} */
  get rooms() {
    return this.world?.rooms ?? [];
  }

  /** @returns {readonly any[]} */
  get players() {
    return this.positions?.environments ?? [];
  }

  /** The room that was chosen; null when it is not on the map. */
  get chosen() {
    return this.rooms.find((room) => keyOf(room) === this.room) ?? null;
  }

  showLayer(name) {
    this.layer = layerNamed(name);
    this.app.setQuery({ layer: this.layer.name === "rooms" ? null : this.layer.name });
    this.app.announce(`Map layer: ${this.layer.label}`);
    this.#changed();
  }

  choose(key) {
    this.room = key === this.room ? null : key;
    this.app.setQuery({ room: this.room });
    this.#changed();
  }

  /** Show this environment's screen on all pages. @param {string} env */
  async showScreen(env) {
    this.refusal = null;
    try {
      await authorised(() => this.app.api.post("/api/v1/watched", { env }), "select the screen shown on all pages");
      this.app.announce(`Switching to the screen of ${env}`);
    } catch (error) {
      this.refusal = error instanceof GivenUp ? null : `${env} cannot be shown: ${messageOf(error)}`;
    }
    this.#changed();
  }

  /** What the room of a player is called. @param {{group: number, room: number}} at */
  nameOf(at) {
    const room = this.rooms.find(({ group, room: number }) => group === at.group && number === at.room);
    return roomName({ name: null, ...(room ?? at) });
  }

  #changed() {
    for (const draw of [...this.#watchers]) draw();
  }
}
