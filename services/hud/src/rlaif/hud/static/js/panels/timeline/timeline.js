// The timeline: charts over one axis of environment steps, with one cursor and one zoom.

import { createAxis } from "../../charts/axis.js";
import { timeChart } from "../../charts/chart.js";
import { h, setText, show } from "../../dom.js";
import { count } from "../../format.js";
import { chartsOf, marksOf, NOTHING, reachOf } from "./specs.js";

/** @typedef {import("../../app.js").App} App */

const LOOK_AGAIN = 3000; // ms; the past is asked for no oftener
const ADDRESS_PAUSE = 1000; // ms between two changes of the address

class Timeline {
  /** @type {Map<string, {root: HTMLElement, chart: ReturnType<typeof timeChart>}>} */
  #charts = new Map();
  #axis = createAxis();
  #past = NOTHING;
  /** @type {import("./specs.js").Scores | null} */
  #scores = null;
  #asked = -Infinity;
  /** @type {string | null} */
  #report = null;
  #stale = true;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #address = null;
  /** The part that the address asks for, until the axis reaches so far. @type {[number, number] | null} */
  #wanted = null;

  /** @param {HTMLElement} body @param {App} app @param {import("../../scope.js").Scope} scope */
  constructor(body, app, scope) {
    this.app = app;
    this.at = h("p", { class: "at" });
    this.all = this.#button("Show all", "Show all steps (0)", () => this.#axis.show(null));
    const tools = h("div", { class: "tools", role: "group", "aria-label": "Zoom" },
      this.#button("−", "Zoom out (minus)", () => this.#axis.zoom(0.5, app.cursor.get())), this.#button("+", "Zoom in (plus)", () => this.#axis.zoom(2, app.cursor.get())), this.all);
    this.choice = h("select", { "aria-label": "Chart", onchange: () => this.#choose(this.choice.value) });
    const choose = h("div", { class: "choose" }, this.#button("◀", "Previous chart", () => this.#chooseNext(-1)), this.choice, this.#button("▶", "Next chart", () => this.#chooseNext(1)));
    this.grid = h("div", { class: "charts" });
    show(body, h("div", { class: "timeline-head" }, this.at, tools, choose), this.grid);
    this.#make();
    this.#zoomOfAddress();
    scope.add(this.#axis.watch(() => this.#zoomed()));
    scope.add(app.cursor.watch(() => this.#say()));
    scope.add(() => this.#end());
    scope.every(LOOK_AGAIN, () => this.#look());
    this.#zoomed();
  }

  /** Something happened that the curves show: ask again. @param {any} state */
  draw({ loop, run, watch, headline }) {
    const report = [loop?.run_id, loop?.scored, run?.iteration, run?.reward_model_version, watch?.switches.length, JSON.stringify(headline)].join(" ");
    if (report === this.#report) return;
    this.#report = report;
    this.#stale = true;
    this.#look();
  }

  /** Ask for what is new, if there is any, at most every few seconds. */
  async #look() {
    if (!this.#stale || document.hidden || performance.now() - this.#asked < LOOK_AGAIN) return;
    this.#stale = false;
    this.#asked = performance.now();
    const [past, scores] = await Promise.all([this.#ask("/api/v1/history"), this.#ask("/api/v1/score-points")]);
    this.#past = past ?? this.#past;
    this.#scores = scores ?? this.#scores;
    this.#update();
  }

  /** Response of a path; null on failure, after which it is requested again. @param {string} path */
  async #ask(path) {
    try {
      return await this.app.api.get(path);
    } catch (error) {
      this.#stale = true; // the state of the page says that the HUD does not answer
      console.warn("could not load the timeline", path, error);
      return null;
    }
  }

  #end() {
    if (this.#address !== null) clearTimeout(this.#address);
    this.#charts.forEach(({ chart }) => chart.destroy());
    this.app.cursor.set(null, this);
  }

  #make() {
    for (const spec of chartsOf(NOTHING, null)) {
      const root = h("div", { id: `chart-${spec.id}`, class: spec.stacked ? "wide" : null });
      this.grid.append(root);
      const chart = timeChart(root, { ...spec, cursor: this.app.cursor, axis: this.#axis, onPick: (point) => this.#open(point), onMark: (href) => this.app.go(href) });
      this.#charts.set(spec.id, { root, chart });
      this.choice.append(h("option", { value: spec.id }, spec.name));
    }
    this.#choose(this.choice.value);
  }

  #update() {
    const charts = chartsOf(this.#past, this.#scores);
    const marks = marksOf(this.#past, this.app.store.state.watch?.switches);
    this.#axis.reach(reachOf(charts));
    for (const { id, ...spec } of charts) this.#charts.get(id)?.chart.update({ ...spec, marks });
    this.#say();
  }

  /** @param {import("../../charts/axis.js").Point} point */
  #open([, , segment]) {
    if (segment) this.app.go(`/segments/${segment}`);
  }

  /** What the cursor is on, in words. */
  #say() {
    const step = this.app.cursor.get();
    const versions = this.#past.loads.filter((load) => step !== null && load.step <= step);
    const by = versions.length ? `, shaped by ${versions[versions.length - 1].version === null ? "no model" : `v${versions[versions.length - 1].version}`}` : "";
    if (step !== null) setText(this.at, `Step ${count(step)}${by}`);
    else setText(this.at, this.#axis.all() ? "X axis: environment steps. Drag to zoom, arrow keys move, Enter opens a segment. Outliers may be clipped; the tables list all values." : "No steps yet.");
  }

  /** @param {string} text @param {string} title @param {() => void} run */
  #button(text, title, run) {
    return h("button", { type: "button", "aria-label": title, title, onclick: run }, text);
  }

  /** On a phone one chart is shown. @param {string} id */
  #choose(id) {
    this.choice.value = id;
    for (const [each, { root }] of this.#charts) root.toggleAttribute("data-chosen", each === id);
  }

  /** @param {number} by */
  #chooseNext(by) {
    const ids = [...this.#charts.keys()];
    this.#choose(ids[(ids.indexOf(this.choice.value) + by + ids.length) % ids.length]);
  }

  #zoomOfAddress() {
    const [from, to] = ["from", "to"].map((name) => Number(new URLSearchParams(location.search).get(name) ?? NaN));
    if (from < to) this.#wanted = [from, to];
  }

  #zoomed() {
    if (this.#wanted && this.#axis.all()) {
      const wanted = this.#wanted;
      this.#wanted = null;
      this.#axis.show(wanted);
      return;
    }
    const part = this.#axis.zoomed() ? this.#axis.view() : null;
    this.all.toggleAttribute("disabled", !part);
    this.#tellAddress();
    this.#say();
  }

  /** A part that goes along with the newest steps changes with each of them: the address follows at its ease. */
  #tellAddress() {
    if (this.#wanted || this.#address !== null) return;
    this.#address = setTimeout(() => {
      this.#address = null;
      const part = this.#axis.zoomed() ? this.#axis.view() : null;
      this.app.setQuery({ from: part?.[0], to: part?.[1] });
    }, ADDRESS_PAUSE);
  }
}

/** @type {WeakMap<HTMLElement, Timeline>} */
const timelines = new WeakMap();

/** @type {import("../../panel.js").Panel} */
export const timeline = {
  id: "timeline", title: "Training history", sections: ["loop", "run", "watch", "headline"],
  mount: (body, app, scope) => void timelines.set(body, new Timeline(body, app, scope)),
  draw: (body, state) => timelines.get(body)?.draw(state),
};
