// Joins the page: what comes over the live connection goes to the panels and to the screen.

import { announce, announceEvent } from "./announcer.js";
import { setClock, tickAges } from "./clock.js";
import { Connection } from "./connection.js";
import { byId, h, setText, show } from "./dom.js";
import { count, hex } from "./format.js";
import { listenToKeys } from "./keyboard.js";
import { drawCharts } from "./panels/charts.js";
import { drawDead } from "./panels/dead.js";
import { drawJudges } from "./panels/judges.js";
import { drawLog } from "./panels/log.js";
import { drawLoop } from "./panels/loop.js";
import { drawModels } from "./panels/models.js";
import { drawPlayer } from "./panels/player.js";
import { drawRun } from "./panels/run.js";
import { drawScores } from "./panels/scores.js";
import { drawServices } from "./panels/services.js";
import { drawVerdict } from "./panels/verdict.js";
import { drawWorth } from "./panels/worth.js";
import { fig } from "./parts.js";
import { Screen } from "./screen.js";
import { judge, showStatus } from "./status.js";
import { Store } from "./store.js";

const FRAMES_PER_SECOND = 30;

const store = new Store();
const page = { connection: { open: false, attempt: 0, retryAt: null }, paused: false, announced: null };

store.watch(["loop", "reward_models"], drawLoop);
store.watch(["services", "health"], drawServices);
store.watch(["run", "reward", "loop", "services", "health"], drawRun);
store.watch(["segments", "loop"], drawVerdict);
store.watch(["segments", "loop"], drawScores);
store.watch(["reward_models"], drawModels);
store.watch(["judge"], drawJudges);
store.watch(["assistance"], drawPlayer);
store.watch(["dead_letters"], drawDead);
store.watch(["series"], drawCharts);
store.watch(["events"], drawLog);
store.watch(["screen", "map"], drawFacts);
store.watch(["screen", "pay"], drawWorth);
store.watch(["screen", "run", "health", "services", "troubles"], drawStatus);

const scheme = location.protocol === "https:" ? "wss:" : "ws:";
const connection = new Connection(`${scheme}//${location.host}/ws/v1`, {
  text: receive,
  frame: (buffer) => screen.receive(buffer),
  state(state) {
    page.connection = state;
    drawStatus();
  },
});
const screen = new Screen(byId("screen"), ({ seq }) => connection.ack(seq));

function receive({ type, data }) {
  if (type === "snapshot") {
    setClock(data.taken_at);
    store.merge(data);
  } else if (type === "metrics") {
    if (data.now) setClock(data.now);
    store.merge(data);
  } else if (type === "event") {
    store.addEvent(data);
    announceEvent(data);
  }
}

function drawStatus() {
  const status = judge({ connection: page.connection, state: store.state, paused: page.paused, now: Date.now() });
  showStatus(status, { state: store.state, connection: page.connection, retry: () => connection.open() });
  if (status.name !== page.announced && ["stale", "disconnected"].includes(status.name)) announce(`Game screen: ${status.name}`);
  page.announced = status.name;
}

function drawFacts({ screen: shown, map }) {
  const parts = [];
  if (shown) parts.push(h("span", { title: "Environment step of this frame; the run counts whole iterations" }, "playing step ", fig("screen.env_step", count(shown.env_step))));
  if (map) parts.push(h("span", { title: `group ${map.group}, x ${map.x} px, y ${map.y} px` }, "room ", h("code", {}, hex(map.room))), h("span", {}, fig("map.rooms_visited", count(map.rooms_visited)), map.rooms_visited === 1 ? " room seen" : " rooms seen"));
  show(byId("screen-facts"), ...parts.flatMap((part, index) => (index ? [" · ", part] : [part])));
}

function describeScreen() {
  const { screen: shown, map } = store.state;
  const where = map ? `, room ${hex(map.room)}` : "";
  byId("screen").setAttribute("aria-label", shown ? `Game screen of ${shown.env}${where}` : "Game screen: no frame yet");
}

function togglePause() {
  page.paused = !page.paused;
  byId("pause").setAttribute("aria-pressed", String(page.paused));
  setText(byId("pause").firstChild, page.paused ? "Resume " : "Pause ");
  setRate();
  drawStatus();
}

function setRate() {
  connection.setRate(page.paused || document.hidden ? 0 : FRAMES_PER_SECOND);
}

document.addEventListener("visibilitychange", setRate);
window.addEventListener("resize", () => store.state.series && drawCharts(store.state));
listenToKeys({ togglePause });
setInterval(() => {
  tickAges();
  drawStatus();
}, 500);
setInterval(() => store.state.loop && drawLoop(store.state), 5000); // marks of fresh stations fade
setInterval(describeScreen, 10_000);
setRate();
connection.open();
