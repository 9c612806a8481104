// The panel of the map: layers to choose from, a scale, and the atlas.

import { ago } from "../clock.js";
import { h, setText, show } from "../dom.js";
import { compact, count } from "../format.js";
import { fig } from "../parts.js";
import { notYet } from "../status.js";
import { Atlas } from "./atlas.js";
import { LAYERS, mostOf, viridis } from "./layers.js";
import { MAP } from "./view.js";

const STEPS = 24; // colours of the scale

/** @param {import("./view.js").View} view @returns {import("../panel.js").Panel} */
export function makeWorld(view) {
  const summary = h("p", { class: "sub", id: "map-summary" });
  const scale = h("p", { class: "map-scale reported" });
  const nothing = h("div", { class: "empty" });
  const plates = h("div", { class: "atlas", id: "atlas" });
  const atlas = new Atlas(plates, (key) => view.choose(key));
  const layers = h("div", { class: "layers", role: "group", "aria-label": "Map layer" },
    ...LAYERS.map(({ name, label, help }) => h("button", { type: "button", class: "quiet", "data-layer": name, title: help, onclick: () => view.showLayer(name) }, label)), h("kbd", { title: "Next layer" }, "M"));

  /** @param {any} state */
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
      body.append(h("div", { class: "map-head" }, layers, scale), summary, nothing, plates);
      scope.add(view.watch(() => draw(app.store.state)));
    },
    draw: (_body, state) => draw(state),
  };
}

/** Why there is no map, and what becomes of that; null when there is one. @param {import("./view.js").View} view @param {any} state */
function reasonOf(view, state) {
  if (view.rooms.length) return null;
  if (view.problem) return { key: "problem", title: "The map is unavailable.", note: () => [`${view.problem instanceof Error ? view.problem.message : view.problem} Retrying every few seconds.`] };
  if (view.world === null) return { key: "asking", title: "Loading the map.", note: () => [] };
  const wait = notYet(state);
  if (wait) return wait;
  return { key: "none", title: "No rooms yet.", note: () => ["Rooms appear after the first training iteration, as players visit them."] };
}

/** @param {HTMLElement} line @param {import("./view.js").View} view */
function drawSummary(line, view) {
  const { world } = view;
  if (!world || world.run_id === null) return show(line);
  const more = world.rooms_left_out ? [" (", fig(`${MAP}#rooms_left_out`, count(world.rooms_left_out)), " more not shown)"] : [];
  const late = view.problem ? [" · ", h("b", { class: "attention" }, "no response; data from "), ago(world.received_at)] : [];
  show(line, fig(`${MAP}#rooms.length`, count(world.rooms.length)), world.rooms.length === 1 ? " room" : " rooms", ...more, " of run ", h("code", {}, world.run_id), ...late);
}

/** @param {HTMLElement} line @param {import("./view.js").View} view @param {number | null} steps */
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
  show(line, h("span", { class: "scale-help" }, layer.help), " 0 ", bar, ` ${layer.name === "time" ? `${compact(most)} s` : compact(most)}`, h("small", {}, " log"));
  setText(line.querySelector("small"), " (logarithmic)");
}
