// The minute before now: pause, go back, play from there, go live.

import { h, setText } from "../dom.js";
import { tenth } from "../format.js";

const SECOND = 1000; // ms
const NOTICED = 250; // ms; less behind is the way of the frames

/** @typedef {import("../rewind.js").Rewind} Rewind */

/** The controls under the screen, until the scope ends. @param {import("../app.js").App} app @param {import("../scope.js").Scope} scope */
export function timeControls(app, scope) {
  const { live } = app;
  const act = (/** @type {(rewind: Rewind) => void} */ move) => () => live.control(move);
  const toggle = act((rewind) => (rewind.mode === "paused" ? rewind.play(performance.now()) : rewind.pause()));
  const moves = {
    back: { key: "ArrowLeft", sign: "←", label: "One frame back", run: act((rewind) => rewind.step(-1)) },
    on: { key: "ArrowRight", sign: "→", label: "One frame forward", run: act((rewind) => rewind.step(1)) },
  };
  const pause = h("button", { type: "button", id: "pause", "aria-keyshortcuts": "Space", onclick: toggle }, h("span", {}, "Pause"), " ", h("kbd", {}, "Space"));
  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", id: "rewind", min: 0, max: 0, step: 50, "aria-label": "Position in the last minute", oninput: () => live.control((rewind) => rewind.seek(slider.valueAsNumber)) }));
  const goLive = /** @type {HTMLButtonElement} */ (h("button", { type: "button", id: "go-live", "aria-keyshortcuts": "L", onclick: act((rewind) => rewind.goLive()) }, "Go live ", h("kbd", {}, "L")));
  const behind = h("output", { class: "reported", id: "behind", for: "rewind" });

  scope.add(app.keys.bind({
    Space: { label: "Pause, or play from here", run: toggle },
    l: { label: "Go live", run: act((rewind) => rewind.goLive()) },
    ...Object.fromEntries(Object.values(moves).map(({ key, label, run }) => [key, { label, run }])),
    "Shift+ArrowLeft": { label: "One second back", run: act((rewind) => rewind.skip(-SECOND)) },
    "Shift+ArrowRight": { label: "One second forward", run: act((rewind) => rewind.skip(SECOND)) },
  }, "The screen"));

  const draw = () => {
    const { rewind } = live;
    const paused = rewind.mode === "paused";
    pause.setAttribute("aria-pressed", String(paused));
    setText(/** @type {Element} */ (pause.firstElementChild), paused ? "Play" : "Pause");
    goLive.disabled = rewind.mode === "live";
    slider.max = String(Math.round(rewind.length));
    slider.value = String(Math.round(rewind.position));
    slider.setAttribute("aria-valuetext", inWords(rewind));
    setText(behind, inWords(rewind));
  };
  scope.add(live.watch(draw));
  scope.every(250, draw);
  draw();
  const step = ({ sign, label, key, run }) => h("button", { type: "button", class: "step", title: label, "aria-label": label, "aria-keyshortcuts": key, onclick: run }, sign);
  return h("div", { class: "time", role: "group", "aria-label": "Playback controls" }, pause, step(moves.back), slider, step(moves.on), behind, goLive);
}

/** @param {Rewind} rewind */
function inWords({ mode, behind }) {
  if (mode === "live" || behind < NOTICED) return mode === "live" ? "now" : "newest";
  return `−${tenth(behind / SECOND)} s`;
}
