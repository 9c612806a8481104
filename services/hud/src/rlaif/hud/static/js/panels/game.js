// The screen of the agent with playback controls, display statistics, and the value of the reward model in use.

import { h, s, setText, show } from "../dom.js";
import { count, duration, hex, reward, roundTrip, tenth, UNKNOWN } from "../format.js";
import { fig } from "../parts.js";
import { Screen } from "../screen.js";
import { judge, notYet } from "../status.js";

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

const RECORDING = new URL("../../trained-agent.webp", import.meta.url).href;

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
  show(overlay, h("img", { class: "recording", src: RECORDING, alt: "A trained agent plays the game", fetchpriority: "low" }),
    h("p", {}, wait.title), h("p", { class: "empty" }, ...wait.note()), h("p", { class: "empty recorded" }, "Meanwhile: a recording of a trained agent, twelve times as fast."));
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

/** @type {import("../parts.js").Panel} */
export const game = { id: "game", title: "Live game", sections: ["screen", "map"], mount, draw };

const ROWS = [
  ["fps", "fps", "Frames drawn per second, over the last 5 s"],
  ["age", "latency", "Capture-to-display latency over the last 5 s: median (p95)"],
  ["lost", "lost", "Share of frames available at the HUD but not drawn by this page, over the last 5 s"],
  ["trip", "round trip", "Fastest round trip to the HUD"],
];

/** A line of figures of this page's own, until the scope ends. @param {import("../app.js").App} app @param {import("../dom.js").Scope} scope */
export function arrival({ live }, scope) {
  const values = Object.fromEntries(ROWS.map(([name]) => [name, h("b", { "data-arrival": name }, UNKNOWN)]));
  const draw = () => {
    const { fps, age, slowest, lost, of } = live.stats.view(performance.now());
    setText(values.fps, tenth(fps));
    setText(values.age, age === null || slowest === null ? UNKNOWN : `${duration(age / 1000)} (${duration(slowest / 1000)})`);
    setText(values.lost, lost === null ? UNKNOWN : `${count(lost)}/${count(of)}`);
    setText(values.trip, milliseconds(roundTrip()));
  };
  scope.every(500, draw);
  draw();
  return h("p", { class: "arrival reported", id: "arrival" }, ...ROWS.map(([name, label, title]) => h("span", { title }, values[name], ` ${label}`)));
}

const milliseconds = (ms) => (ms === null ? UNKNOWN : duration(ms / 1000));

const SECOND = 1000; // ms
const NOTICED = 250; // ms; less behind is the way of the frames

/** @typedef {import("../screen.js").Rewind} Rewind */

/** The controls under the screen, until the scope ends. @param {import("../app.js").App} app @param {import("../dom.js").Scope} scope */
export function timeControls(app, scope) {
  const { live } = app;
  const act = (/** @type {(rewind: Rewind) => void} */ move) => () => live.control(move);
  const toggle = act((rewind) => (rewind.mode === "paused" ? rewind.goLive() : rewind.pause()));
  const moves = {
    back: { key: "ArrowLeft", sign: "←", label: "One frame back", run: act((rewind) => rewind.step(-1)) },
    on: { key: "ArrowRight", sign: "→", label: "One frame forward", run: act((rewind) => rewind.step(1)) },
  };
  const pause = h("button", { type: "button", id: "pause", "aria-keyshortcuts": "Space", onclick: toggle }, h("span", {}, "Pause"), " ", h("kbd", {}, "Space"));
  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", id: "rewind", min: 0, max: 0, step: 50, "aria-label": "Position in the last minute", oninput: () => live.control((rewind) => rewind.seek(slider.valueAsNumber)) }));
  const goLive = /** @type {HTMLButtonElement} */ (h("button", { type: "button", id: "go-live", "aria-keyshortcuts": "L", onclick: act((rewind) => rewind.goLive()) }, "Go live ", h("kbd", {}, "L")));
  const behind = h("output", { class: "reported", id: "behind", for: "rewind" });

  scope.add(app.keys.bind({
    Space: { label: "Pause, or go live", run: toggle },
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

const HEIGHT = 34; // pixels; the middle is 0
const BAR = 9;
const LEAST = 0.005; // a change of this height fills its half at least: noise stays small

export function drawWorth(element, { pay, screen }) {
  if (!screen) return show(element);
  const known = pay && pay.env === screen.env ? pay : null;
  show(element,
    h("p", { title: "How the reward model in use rates the state on the screen: −1 is the start of the quest, +1 its goal" },
      h("span", { class: "label" }, "Φ "), h("b", {}, fig(known ? "pay.potential" : null, reward(known?.potential))),
      known?.reward_model_version ? h("span", { class: "label" }, " by ", fig("pay.reward_model_version", `v${known.reward_model_version}`)) : h("span", { class: "label" }, " no reward model yet")),
    known?.rises ? sparkline(known.rises) : null,
    h("p", { title: "Change of Φ while the player played; up is towards the goal, standing still is 0" },
      h("span", { class: "label" }, "change "), h("b", { "data-sign": sign(known?.rise) }, fig(known ? "pay.rise" : null, reward(known?.rise))),
      known?.rises ? h("span", { class: "label" }, " in ", fig("pay.rise_seconds", count(known.rise_seconds)), " s") : null));
}

/** One bar for each stretch of time, oldest left; up is towards the goal. */
function sparkline(rises) {
  const most = Math.max(LEAST, ...rises.map(Math.abs));
  const bars = rises.map((amount, index) => {
    const height = (Math.abs(amount) / most) * (HEIGHT / 2 - 1);
    return s("rect", { class: amount < 0 ? "minus" : "plus", x: index * BAR, width: BAR - 2, y: amount < 0 ? HEIGHT / 2 : HEIGHT / 2 - height, height });
  });
  const width = rises.length * BAR;
  return s("svg", { class: "sparkline", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": `Recent changes of Φ: maximum ${reward(Math.max(...rises))}, minimum ${reward(Math.min(...rises))}` },
    s("line", { class: "axis", x1: 0, x2: width, y1: HEIGHT / 2, y2: HEIGHT / 2 }), ...bars);
}

const sign = (value) => (Math.abs(value ?? 0) < 0.005 ? null : value < 0 ? "minus" : "plus");
