// One room: what happened there, and the segments that lead through it.

import { BASE } from "../routes.js";
import { h, keyed, setText, show } from "../dom.js";
import { compact, count, decimal, duration, UNKNOWN } from "../format.js";
import { facts, fig } from "../parts.js";
import { called, numberOf } from "./layers.js";
import { keyOf } from "./places.js";
import { MAP } from "./view.js";

/** @param {import("./view.js").View} view @returns {import("../panel.js").Panel} */
export function makeRoom(view) {
  const idle = h("p", { class: "empty" }, "Select a room on the map with the pointer, or with Tab, arrow keys and Enter.");
  const heading = h("h3", { class: "room-title" });
  const figures = h("div");
  const list = h("ol", { class: "room-segments" });
  const none = h("p", { class: "empty" });
  const players = h("p", { class: "sub reported" });
  const all = h("a", {}, "All segments in this room");
  const about = h("div", { class: "room-about" }, heading, figures, h("h3", {}, "Segments"), list, none, h("p", { class: "sub" }, all), players);

  function draw() {
    const room = view.chosen;
    idle.hidden = room !== null;
    about.hidden = room === null;
    setText(idle, view.room && view.world && !room ? `Room ${view.room} is not on the map of this run.` : "Select a room on the map with the pointer, or with Tab, arrow keys and Enter.");
    if (room) drawRoom(room);
  }

  /** @param {any} room */
  function drawRoom(room) {
    const path = `${MAP}#rooms.${view.rooms.indexOf(room)}`;
    const figure = (/** @type {string} */ name, /** @type {string} */ text) => fig(`${path}.${name}`, text);
    show(heading, called(room), " ", h("code", {}, `${room.group}/${numberOf(room)}`));
    const steps = view.app.store.state.run?.env_steps ?? null;
    show(figures, facts([
      ["Visits", figure("entries", count(room.entries)), "Number of times a player entered the room or started an episode there"],
      ["Time", figure("seconds", duration(room.seconds)), `${count(room.frames)} game frames at 60 Hz`],
      ["Deaths", figure("deaths", count(room.deaths)), "Number of deaths in the room"],
      ["Long stays", figure("long_stays", count(room.long_stays)), "Stays of at least one minute of game time"],
      ["LLM calls", figure("calls", count(room.calls)), "Requests to the planner's language model in this room"],
      ["Last visit", h("span", {}, h("small", {}, "step "), figure("last_step", compact(room.last_step)), steps === null ? null : h("small", {}, " of ", fig("run.env_steps", compact(steps)))), `Environment step ${count(room.last_step)} of the run, rounded to the iteration`],
    ], "three"));
    all.setAttribute("href", `${BASE}/segments?room=${keyOf(room)}`);
    keyed(list, room.segments, (/** @type {any} */ { segment_id: id }) => id, (/** @type {any} */ segment) => makeSegment(segment, path), (item, segment) => drawSegment(item, segment, path));
    setText(none, room.segments.length ? "" : "No captured segment visits this room yet.");
    const here = view.players.filter((player) => keyOf(player) === keyOf(room)).map(({ env }) => env);
    setText(players, here.length ? `Players: ${here.join(", ")}` : "No player is in this room.");
  }

  return {
    id: "room", title: "Room", look: "room-panel", sections: ["run"],
    mount(body, _app, scope) {
      body.append(idle, about);
      scope.add(view.watch(draw));
    },
    draw,
  };
}

/** @param {any} segment @param {string} path */
function makeSegment(segment, path) {
  const { episode_id: episode, segment_id: id } = segment;
  const item = h("li", {}, h("a", { href: `/segments/${episode}/${id}` }, h("code", {}, id)), h("span", { class: "room-score" }));
  drawSegment(item, segment, path);
  return item;
}

/** @param {Element} item @param {any} segment @param {string} path */
function drawSegment(item, { segment_id: id, weighted }, path) {
  const score = /** @type {Element} */ (item.querySelector(".room-score"));
  const text = weighted === null ? UNKNOWN : decimal(weighted);
  show(score, fig(`${path}.segments.${id}.weighted`, text, weighted === null ? "Not scored yet" : "The judges' score"));
}
