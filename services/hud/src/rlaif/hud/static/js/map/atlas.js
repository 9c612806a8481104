// The panel of the map: layers, a scale, and the atlas. An area is a plate, a room a button with its picture and players.

import { h, keyed, setText, show } from "../dom.js";
import { ago, compact, count, hex, roomName } from "../format.js";
import { fig } from "../parts.js";
import { based } from "../routes.js";
import { notYet } from "../status.js";
import { areasOf, colourOf, keyOf, layerAfter, LAYERS, MAP, mostOf, neighbour, spoken, viridis } from "./layers.js";

const PICTURE_WIDTH = 160;
const PICTURE_HEIGHT = 128;
const AGAIN = 10_000; // ms until a picture that was not there is asked for again

/**
 * @typedef {import("./layers.js").Placed} Placed
 *
 * @typedef {{env: string, group: number, room: number, x: number, y: number}} Player
 * @typedef {{rooms: readonly any[], players: readonly Player[], watched: string | null, steps: number | null, layer: import("./layers.js").Layer, chosen: string | null, most: number | null}} Seen
 */

export class Atlas {
  /** @type {Map<string, HTMLElement>} by room */
  #buttons = new Map();
  /** @type {import("./layers.js").Area[]} */
  #areas = [];

  /** @param {HTMLElement} root @param {(key: string) => void} choose  called with the room that was chosen */
  constructor(root, choose) {
    this.root = root;
    this.choose = choose;
    root.addEventListener("keydown", (event) => this.#move(event));
  }

  /** @param {Omit<Seen, "most">} world */
  draw(world) {
    this.#areas = areasOf(world.rooms);
    const known = new Set(world.rooms.map(keyOf));
    for (const key of this.#buttons.keys()) if (!known.has(key)) this.#buttons.delete(key);
    const seen = { ...world, most: mostOf(world.layer, world.rooms, world) };
    const first = world.chosen ?? this.#areas[0]?.rooms[0]?.key;
    keyed(this.root, this.#areas, ({ key }) => key, (area) => this.#makeArea(area), () => {});
    for (const [index, area] of this.#areas.entries()) {
      const plate = /** @type {HTMLElement} */ (this.root.children[index].querySelector(".plate"));
      plate.style.setProperty("--columns", String(area.columns));
      keyed(plate, area.rooms, ({ key }) => key, (placed) => this.#makeRoom(placed), () => {});
      for (const placed of area.rooms) this.#drawRoom(placed, seen, first);
    }
    this.#drawPlayers(seen);
  }

  /** @param {import("./layers.js").Area} area */
  #makeArea(area) {
    const plate = h("div", { class: "plate", role: "group", "aria-label": `Rooms of ${area.title}` });
    const title = h("h3", { class: "reported" }, area.title, area.note ? h("small", {}, ` ${area.note}`) : null);
    return h("section", { class: "area" }, title, h("div", { class: "plate-frame" }, plate));
  }

  /** @param {Placed} placed */
  #makeRoom({ key, room }) {
    const button = h("button", { type: "button", class: "room", "data-room": key, onclick: () => this.choose(key) },
      h("span", { class: "view" }), h("span", { class: "shade" }), h("span", { class: "players", "aria-hidden": "true" }), h("span", { class: "room-name", "aria-hidden": "true" }, room.name ?? hex(room.room)), h("span", { class: "room-figure", "aria-hidden": "true" }));
    this.#buttons.set(key, button);
    return button;
  }

  /** @param {Placed} placed @param {Seen} seen @param {string | undefined} first */
  #drawRoom({ key, room, column, line }, seen, first) {
    const button = /** @type {HTMLElement} */ (this.#buttons.get(key));
    button.style.gridColumn = String(column);
    button.style.gridRow = String(line);
    button.style.aspectRatio = `${room.width} / ${room.height}`;
    button.tabIndex = key === first ? 0 : -1; // arrows lead to the others
    const players = seen.players.filter((player) => keyOf(player) === key).length;
    button.setAttribute("aria-label", spoken(room, players));
    button.setAttribute("aria-pressed", String(key === seen.chosen));
    button.title = `${roomName(room)} (${hex(room.room)})`;
    const shade = /** @type {HTMLElement} */ (button.querySelector(".shade"));
    shade.style.background = colourOf(seen.layer, room, seen, seen.most) ?? "";
    button.dataset.layer = seen.layer.name;
    setText(button.querySelector(".room-figure"), seen.layer.text(room, seen));
    showPicture(/** @type {HTMLElement} */ (button.querySelector(".view")), room);
  }

  /** A player keeps its dot, so that its movement is animated. @param {Seen} seen */
  #drawPlayers(seen) {
    for (const [key, button] of this.#buttons) {
      const here = seen.players.filter((player) => keyOf(player) === key);
      const room = seen.rooms.find((each) => keyOf(each) === key);
      const dots = /** @type {HTMLElement} */ (button.querySelector(".players"));
      keyed(dots, room ? here : [], ({ env }) => env, ({ env }) => h("i", { title: env }), () => {});
      for (const [index, player] of (room ? here : []).entries()) {
        const dot = /** @type {HTMLElement} */ (dots.children[index]);
        dot.style.left = `${(100 * player.x) / room.width}%`;
        dot.style.top = `${(100 * player.y) / room.height}%`;
        dot.dataset.watched = String(player.env === seen.watched);
      }
    }
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const key = /** @type {HTMLElement} */ (event.target).dataset?.room;
    const area = this.#areas.find(({ rooms }) => rooms.some((placed) => placed.key === key));
    const next = key && area ? neighbour(area.rooms, key, event.key) : null;
    if (!key || !next) return;
    event.preventDefault();
    const [from, to] = [this.#buttons.get(key), this.#buttons.get(next.key)];
    if (from) from.tabIndex = -1;
    if (to) to.tabIndex = 0;
    to?.focus();
  }
}

/** The picture of a room where it belongs in it; one that is not there yet is asked for again later. @param {HTMLElement} view @param {any} room */
function showPicture(view, room) {
  const url = room.picture_url;
  if (!url || view.dataset.url === url || Date.now() < Number(view.dataset.again ?? 0)) return;
  view.dataset.url = url;
  const image = h("img", { alt: "", width: PICTURE_WIDTH, height: PICTURE_HEIGHT, decoding: "async", loading: "lazy" });
  image.style.width = `${(100 * PICTURE_WIDTH) / room.width}%`;
  image.style.left = `${(100 * room.picture_left) / room.width}%`;
  image.style.top = `${(100 * room.picture_top) / room.height}%`;
  image.addEventListener("error", () => {
    delete view.dataset.url;
    view.dataset.again = String(Date.now() + AGAIN);
    image.remove();
  });
  image.src = based(url);
  view.replaceChildren(image);
}

const STEPS = 24; // colours of the scale

/** @param {import("./layers.js").View} view @param {{small?: boolean}} [how]  small: without layers; a room leads to the map's page @returns {import("../parts.js").Panel} */
export function makeWorld(view, { small = false } = {}) {
  const summary = h("p", { class: "sub", id: "map-summary" });
  const scale = h("p", { class: "map-scale reported" });
  const nothing = h("div", { class: "empty" });
  const plates = h("div", { class: "atlas", id: "atlas" });
  const atlas = new Atlas(plates, (key) => (small ? view.app.go(`/map?room=${encodeURIComponent(key)}`) : view.choose(key)));
  const layers = h("div", { class: "layers", role: "group", "aria-label": "Map layer" },
    ...LAYERS.map(({ name, label, help }) => h("button", { type: "button", class: "quiet", "data-layer": name, title: help, onclick: () => view.showLayer(name) }, label)), h("kbd", { title: "Next layer" }, "M"));

  function draw(state) {
    for (const button of layers.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.layer === view.layer.name));
    const steps = state.run?.env_steps ?? null;
    drawSummary(summary, view);
    drawScale(scale, view, steps);
    const key = reasonOf(view, state);
    nothing.hidden = key === null;
    if (key !== null && nothing.dataset.key !== key.key) {
      nothing.dataset.key = key.key;
      show(nothing, h("p", {}, key.title), h("p", {}, ...key.note()));
    }
    atlas.draw({ rooms: view.rooms, players: view.players, watched: state.watch?.env ?? null, steps, layer: view.layer, chosen: view.chosen ? view.room : null });
  }

  return {
    id: "world", title: "World map", look: "world-panel", sections: ["run", "watch", "services", "health"],
    mount(body, app, scope) {
      body.append(...(small ? [] : [h("div", { class: "map-head" }, layers, scale)]), summary, nothing, plates);
      if (!small) scope.add(app.keys.bind({ m: { label: "Next map layer", run: () => view.showLayer(layerAfter(view.layer).name) } }));
      scope.add(view.watch(() => draw(app.store.state)));
    },
    draw: (_body, state) => draw(state),
  };
}

/** Why there is no map, and what becomes of that; null when there is one. @param {import("./layers.js").View} view @param {any} state */
function reasonOf(view, state) {
  if (view.rooms.length) return null;
  const { problem } = view;
  if (problem) return { key: "problem", title: "The map is unavailable.", note: () => [`${problem.message} Retrying every few seconds.`] };
  if (view.world === null) return { key: "asking", title: "Loading the map.", note: () => [] };
  const wait = notYet(state);
  if (wait) return wait;
  return { key: "none", title: "No rooms yet.", note: () => ["Rooms appear after the first training iteration, as players visit them."] };
}

/** @param {HTMLElement} line @param {import("./layers.js").View} view */
function drawSummary(line, view) {
  const { world } = view;
  if (!world || world.run_id === null) return show(line);
  const more = world.rooms_left_out ? [" (", fig(`${MAP}#rooms_left_out`, count(world.rooms_left_out)), " more not shown)"] : [];
  const late = view.problem ? [" · ", h("b", { class: "attention" }, "no response; data from "), ago(world.received_at)] : [];
  show(line, fig(`${MAP}#rooms.length`, count(world.rooms.length)), world.rooms.length === 1 ? " room" : " rooms", ...more, " of run ", h("code", {}, world.run_id), ...late);
}

/** @param {HTMLElement} line @param {import("./layers.js").View} view @param {number | null} steps */
function drawScale(line, view, steps) {
  const { layer } = view;
  const most = mostOf(layer, view.rooms, { steps });
  const key = `${layer.name} ${most}`;
  if (line.dataset.key === key) return;
  line.dataset.key = key;
  if (most === null) return show(line, layer.help);
  const bar = h("span", { class: "scale-bar", "aria-hidden": "true" }, ...Array.from({ length: STEPS }, (_, index) => {
    const part = h("i");
    part.style.background = viridis(index / (STEPS - 1));
    return part;
  }));
  show(line, h("span", { class: "scale-help" }, layer.help), " 0 ", bar, ` ${layer.name === "time" ? `${compact(most)} s` : compact(most)}`, h("small", {}, " (logarithmic)"));
}
