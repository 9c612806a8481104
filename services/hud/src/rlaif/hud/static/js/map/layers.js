// Layers of the map: what of a room is shown as a colour, and which colour. Pure.

import { compact, count, duration, UNKNOWN } from "../format.js";

/**
 * @typedef {import("./places.js").Room} Room
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

/** @param {number} last @param {number | null} steps */
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

/** What a room is called: its name, or its number. @param {{group: number, room: number, name: string | null}} room */
export const called = (room) => room.name ?? `${room.group}/${numberOf(room)}`;

/** @param {{room: number}} room */
export const numberOf = ({ room }) => `0x${room.toString(16).toUpperCase().padStart(2, "0")}`;

/** A room in words, for who does not see the map. @param {Room} room @param {number} players */
export function spoken(room, players) {
  const parts = [called(room), `${count(room.entries)} ${room.entries === 1 ? "visit" : "visits"}`];
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
