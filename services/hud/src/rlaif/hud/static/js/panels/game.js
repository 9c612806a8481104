// The screen of the agent that plays, and what the live reward model says of it.

import { h, setText, show } from "../dom.js";
import { count, hex } from "../format.js";
import { fig } from "../parts.js";
import { Screen } from "../screen.js";
import { notYet } from "../starting.js";
import { judge } from "../status.js";
import { arrival } from "./arrival.js";
import { timeControls } from "./time-controls.js";
import { drawWorth } from "./worth.js";

function mount(body, app, scope) {
  const canvas = h("canvas", { id: "screen", width: 160, height: 144, role: "img", "aria-label": "Game screen: no frame yet" });
  const overlay = h("div", { class: "overlay", id: "screen-overlay" });
  const frame = h("div", { class: "screen", id: "screen-frame", "data-state": "empty" }, canvas, overlay);
  const worth = h("div", { class: "worth", id: "worth" });
  body.append(frame, timeControls(app, scope), h("div", { class: "under" }, arrival(app, scope), h("p", { id: "screen-facts" })), worth);

  const screen = new Screen(canvas, (frame) => app.live.drawn(frame));
  scope.add(app.live.showFrames((buffer) => screen.receive(buffer)));
  const status = () => {
    showOverlay(frame, overlay, judge(app), app.store.state);
  };
  scope.add(app.store.watch(["screen", "run", "search", "health", "services"], status));
  scope.add(app.live.watch(status));
  scope.every(500, status);
  scope.add(app.store.watch(["screen", "pay"], (state) => drawWorth(worth, state)));
  const describe = () => canvas.setAttribute("aria-label", description(app.store.state));
  scope.every(10_000, describe);
  status();
}

/** What stands over the screen: why there is no picture, or why it does not move. */
function showOverlay(frame, overlay, status, state) {
  frame.dataset.state = status.name;
  if (status.name !== "empty") {
    delete overlay.dataset.key;
    return setText(overlay, status.overlay);
  }
  const wait = notYet(state) ?? { key: "no frame", title: "The trainer is running but has sent no frame yet.", note: () => [] };
  if (overlay.dataset.key === wait.key) return;
  overlay.dataset.key = wait.key;
  show(overlay, h("p", {}, wait.title), h("p", { class: "empty" }, ...wait.note()));
}

function description({ screen: shown, map }) {
  const where = map ? `, ${map.name ?? `room ${hex(map.room)}`}` : "";
  return shown ? `Game screen of ${shown.env}${where}` : "Game screen: no frame yet";
}

function draw(body, { screen: shown, map }) {
  const parts = [];
  if (shown) parts.push(h("span", { title: "Environment step of this frame; the run's counter advances once per iteration" }, "step ", fig("screen.env_step", count(shown.env_step))));
  if (map) parts.push(h("span", { title: `room ${hex(map.room)} of group ${map.group}, x ${map.x} px, y ${map.y} px` }, "room ", map.name ?? h("code", {}, hex(map.room))), h("span", {}, fig("map.rooms_visited", count(map.rooms_visited)), map.rooms_visited === 1 ? " room seen" : " rooms seen"));
  show(body.querySelector("#screen-facts"), ...parts.flatMap((part, index) => (index ? [" · ", part] : [part])));
}

/** @type {import("../panel.js").Panel} */
export const game = { id: "game", title: "Live game", sections: ["screen", "map"], mount, draw };
