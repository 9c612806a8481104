// All environments: where each stands, what it does, and a button that brings its screen.

import { h, keyed, setText, show } from "../dom.js";
import { compact, count, decimal } from "../format.js";
import { fig, table } from "../parts.js";
import { doing } from "./layers.js";
import { keyOf } from "./places.js";
import { ENVIRONMENTS } from "./view.js";

const COLUMNS = ["Environment", "Room", "Steps", "Return", "Rooms", "Does", "Screen"];

/** @param {import("./view.js").View} view @returns {import("../panel.js").Panel} */
export function makeEnvironments(view) {
  const { frame, body } = table({ name: "Player positions of all environments", look: "environments", heads: COLUMNS });
  const note = h("p", { class: "sub reported" });
  const refusal = h("p", { class: "notice", "data-tone": "bad", role: "alert", hidden: true });

  /** @param {any} state */
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

/** @param {import("./view.js").View} view @param {any} player */
function makeRow(view, { env }) {
  const cell = (/** @type {string} */ name, /** @type {string} */ label) => h("td", { class: name, "data-label": label });
  return h("tr", { "data-env": env }, h("th", { scope: "row" }, h("code", {}, env)), cell("where", "Room"), cell("steps", "Steps"), cell("return", "Return"), cell("rooms", "Rooms"), cell("does reported", "Does"),
    h("td", {}, h("button", { type: "button", class: "show-screen", onclick: () => view.showScreen(env) }, "Show")));
}

/** @param {Element} row @param {any} player @param {{view: import("./view.js").View, watch: any, index: number, sign: any}} seen */
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
