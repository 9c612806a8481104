// The panels beside the map: the selected room, and all environments.

import { h, keyed, setText, show } from "../dom.js";
import { compact, count, decimal, duration, hex, roomName, UNKNOWN } from "../format.js";
import { facts, fig, table } from "../parts.js";
import { addressOfSegment, BASE } from "../routes.js";
import { doing, ENVIRONMENTS, keyOf, MAP } from "./layers.js";

/** @param {import("./layers.js").View} view @returns {import("../parts.js").Panel} */
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

  function drawRoom(room) {
    const path = `${MAP}#rooms.${view.rooms.indexOf(room)}`;
    const figure = (/** @type {string} */ name, /** @type {string} */ text) => fig(`${path}.${name}`, text);
    show(heading, roomName(room), room.name ? h("code", {}, ` ${room.group}:${hex(room.room)}`) : null);
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

function makeSegment(segment, path) {
  const item = h("li", {}, h("a", { href: addressOfSegment(segment) }, h("code", {}, segment.segment_id)), h("span", { class: "room-score" }));
  drawSegment(item, segment, path);
  return item;
}

/** @param {Element} item @param {any} segment @param {string} path */
function drawSegment(item, { segment_id: id, weighted }, path) {
  const score = /** @type {Element} */ (item.querySelector(".room-score"));
  const text = weighted === null ? UNKNOWN : decimal(weighted);
  show(score, fig(`${path}.segments.${id}.weighted`, text, weighted === null ? "Not scored yet" : "The judges' score"));
}

const COLUMNS = ["Environment", "Room", "Emulator steps", "Return", "Rooms", "Does", "Screen"];

/** @param {import("./layers.js").View} view @returns {import("../parts.js").Panel} */
export function makeEnvironments(view) {
  const { frame, body } = table({ name: "Player positions of all environments", look: "environments", heads: COLUMNS });
  const note = h("p", { class: "sub reported" });
  const refusal = h("p", { class: "notice", "data-tone": "bad", role: "alert", hidden: true });

  function draw(state) {
    const { positions, players } = view;
    frame.hidden = !players.length;
    const signs = new Map((positions?.runners ?? []).map((/** @type {any} */ sign) => [sign.runner, sign]));
    const watch = state.watch ?? {};
    keyed(body, players, ({ env }) => env, (player) => makeRow(view, player), () => {});
    for (const [index, player] of players.entries()) drawRow(body.children[index], player, { view, watch, index, sign: signs.get(player.runner) });
    setText(note, noteOf(positions));
    refusal.hidden = !view.refusal;
    setText(refusal, view.refusal ?? "");
  }

  return {
    id: "environments", title: "Environments", look: "environments-panel", sections: ["watch"],
    mount(root, app, scope) {
      root.append(frame, note, refusal);
      scope.add(view.watch(() => draw(app.store.state)));
    },
    draw: (_root, state) => draw(state),
  };
}

function noteOf(positions) {
  if (positions === null) return "";
  if (!positions.environments.length) return "No player positions reported yet.";
  const more = positions.left_out ? `${count(positions.left_out)} more are not listed. ` : "";
  return `${more}Changing the screen affects all open pages, not the training.`;
}

/** @param {import("./layers.js").View} view @param {any} player */
function makeRow(view, { env }) {
  const cell = (/** @type {string} */ name, /** @type {string} */ label) => h("td", { class: name, "data-label": label });
  return h("tr", { "data-env": env }, h("th", { scope: "row" }, h("code", {}, env)), cell("where", "Room"), cell("steps", "Emulator steps"), cell("return", "Return"), cell("rooms", "Rooms"), cell("does reported", "Does"),
    h("td", {}, h("button", { type: "button", class: "show-screen", onclick: () => view.showScreen(env) }, "Show")));
}

/** @param {Element} row @param {any} player @param {{view: import("./layers.js").View, watch: any, index: number, sign: any}} seen */
function drawRow(row, player, { view, watch, index, sign }) {
  const put = (/** @type {string} */ name, /** @type {string} */ field, /** @type {string} */ text) => {
    const cell = /** @type {HTMLElement} */ (row.querySelector(`.${name}`));
    const path = `${ENVIRONMENTS}#environments.${index}.${field}`;
    if (cell.textContent !== text || cell.dataset.path !== path) show(cell, fig(path, text));
    cell.dataset.path = path;
  };
  const where = /** @type {HTMLElement} */ (row.querySelector(".where"));
  if (where.dataset.key !== keyOf(player) || where.textContent !== view.nameOf(player)) {
    where.dataset.key = keyOf(player);
    show(where, h("button", { type: "button", class: "link", onclick: () => view.choose(keyOf(player)) }, view.nameOf(player)));
  }
  put("steps", "steps", compact(player.steps));
  put("return", "episode_return", decimal(player.episode_return));
  put("rooms", "rooms_visited", count(player.rooms_visited));
  const [word, tone] = doing(sign);
  const does = /** @type {HTMLElement} */ (row.querySelector(".does"));
  setText(does, word);
  does.dataset.tone = tone;
  const button = /** @type {HTMLButtonElement} */ (row.querySelector(".show-screen"));
  const shown = player.env === watch.env;
  button.setAttribute("aria-pressed", String(shown));
  button.setAttribute("aria-label", `Show the screen of ${player.env}`);
  setText(button, shown ? "Shown" : player.env === watch.selected ? "Coming…" : "Show");
}
