// The timeline: charts over one axis of environment steps with one cursor and one zoom; and the rewards of the newest steps.

import { Answer, ofRun } from "../../api.js";
import { createAxis, Cursor } from "../../charts/axis.js";
import { timeChart } from "../../charts/chart.js";
import { h, setText, show } from "../../dom.js";
import { count, reward } from "../../format.js";
import { fig, signButton } from "../../parts.js";
import { readHeader } from "../../screen.js";
import { appended, chartsOf, marksOf, NOTHING, reachOf, stepChart } from "./specs.js";

/** @typedef {import("../../app.js").App} App */

const LOOK_AGAIN = 3000; // ms; the past is asked for no oftener
const ADDRESS_PAUSE = 1000; // ms between two changes of the address

class Timeline {
  /** @type {Map<string, {root: HTMLElement, chart: ReturnType<typeof timeChart>}>} */
  #charts = new Map();
  #axis = createAxis();
  #asked = -Infinity;
  /** @type {string | null} */
  #report = null;
  #stale = true;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #address = null;
  /** The part that the address asks for, until the axis reaches so far. @type {[number, number] | null} */
  #wanted = null;

  /** @param {HTMLElement} body @param {App} app @param {import("../../dom.js").Scope} scope */
  constructor(body, app, scope) {
    this.app = app;
    this.at = h("p", { class: "at" });
    this.all = signButton("Show all", "Show all steps (0)", () => this.#axis.show(null));
    const tools = h("div", { class: "tools", role: "group", "aria-label": "Zoom" },
      signButton("−", "Zoom out (minus)", () => this.#axis.zoom(0.5, app.cursor.get())), signButton("+", "Zoom in (plus)", () => this.#axis.zoom(2, app.cursor.get())), this.all);
    this.grid = h("div", { class: "charts" });
    show(body, h("div", { class: "timeline-head" }, this.at, tools), this.grid);
    this.#make();
    this.#zoomOfAddress();
    scope.add(this.#axis.watch(() => this.#zoomed()));
    scope.add(app.cursor.watch(() => this.#say()));
    scope.add(() => this.#end());
    this.history = new Answer(app, scope).watch(() => this.#update());
    this.scores = new Answer(app, scope).watch(() => this.#update());
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
  #look() {
    if (!this.#stale || document.hidden || performance.now() - this.#asked < LOOK_AGAIN) return;
    this.#stale = false;
    this.#asked = performance.now();
    void this.history.ask(ofRun("/api/v1/history"));
    void this.scores.ask(ofRun("/api/v1/score-points"));
  }

  /** @returns {import("./specs.js").Past} */
  get #past() {
    return this.history?.value ?? NOTHING;
  }

  /** Which run is shown, or why not, if the address names one. */
  #ofRun() {
    if (!new URLSearchParams(location.search).has("run") || !this.history) return "";
    const { value, problem } = this.history;
    return value ? `Run ${value.run_id}. ` : problem ? `${problem.detail} ` : "";
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
    }
  }

  #update() {
    const charts = chartsOf(this.#past, this.scores?.value ?? null);
    const marks = marksOf(this.#past, this.app.store.state.watch?.switches);
    this.#axis.reach(reachOf(charts));
    for (const { id, ...spec } of charts) this.#charts.get(id)?.chart.update({ ...spec, marks });
    this.#zoomed();
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
    else setText(this.at, `${this.#ofRun()}${this.#axis.all() ? "X axis: environment steps. Drag to zoom, arrow keys move, Enter opens a segment. Outliers may be clipped; the tables list all values." : "No steps yet."}`);
  }

  #zoomOfAddress() {
    const [from, to] = ["from", "to"].map((name) => Number(new URLSearchParams(location.search).get(name) ?? NaN));
    if (from < to) this.#wanted = [from, to];
  }

  #zoomed() {
    const [wanted, all] = [this.#wanted, this.#axis.all()]; // the first of two answers may cover less than both
    if (wanted && all && ((all[0] <= wanted[0] && wanted[1] <= all[1]) || (this.history?.value && this.scores?.value))) {
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

/** @type {import("../../parts.js").Panel} */
export const timeline = {
  id: "timeline", title: "Training history", sections: ["loop", "run", "watch", "headline"],
  mount(body, app, scope) {
    const mounted = new Timeline(body, app, scope);
    return (state) => mounted.draw(state);
  },
};

/** @typedef {import("./specs.js").PaidSteps} PaidSteps */

const STEPS_EVERY = 1000; // ms
const NAME = "Reward per step";
const PATH = "/api/v1/steps";

class Steps {
  /** @type {PaidSteps | null} */
  #report = null;
  #asking = false;
  #seen = false;
  #axis = createAxis();
  #cursor = new Cursor();

  /** @param {HTMLElement} body @param {App} app @param {import("../../dom.js").Scope} scope */
  constructor(body, app, scope) {
    this.app = app;
    this.sums = h("p", { class: "at" }, "Not known yet.");
    const root = h("div", {});
    show(body, this.sums, root);
    this.chart = timeChart(root, { ...stepChart([]), name: NAME, untitled: true, cursor: this.#cursor, axis: this.#axis });
    scope.add(() => this.chart.destroy());
    const sight = new IntersectionObserver(([entry]) => this.#sighted(entry.isIntersecting));
    sight.observe(body);
    scope.add(() => sight.disconnect());
    scope.every(STEPS_EVERY, () => this.#look());
    scope.add(app.live.watch(() => this.follow()));
    scope.add(this.#cursor.watch((step) => step === null && this.follow()));
  }

  /** The cursor follows the displayed step unless the pointer is in the chart. */
  follow() {
    const step = shownStep(this.app);
    const view = this.#axis.view();
    const isTheirs = this.#report?.env === this.app.store.state.screen?.env;
    if (step === undefined || !view || !isTheirs || this.chart.held) return;
    if (step >= view[0] && step <= view[1]) this.#cursor.set(step, "screen");
  }

  #sighted(seen) {
    this.#seen = seen;
    this.#look();
  }

  /** Request new steps while the chart is visible and the screen is live. */
  async #look() {
    if (!this.#seen || this.#asking || document.hidden || !isLive(this.app.live)) return;
    this.#asking = true;
    try {
      const last = this.#report?.steps.at(-1);
      this.#report = appended(this.#report, await this.app.api.get(last ? `${PATH}?after=${last.number}` : PATH));
      this.#draw(this.#report);
    } catch (error) {
      console.warn("could not load the latest steps", error);
    } finally {
      this.#asking = false;
    }
  }

  /** @param {PaidSteps} report */
  #draw(report) {
    const spec = stepChart(report.steps);
    this.#axis.reach(spec.reach);
    this.chart.update(spec);
    if (!report.kept) return setText(this.sums, report.env ? "Not known yet." : "No screen selected yet.");
    show(this.sums, fig("paid_steps.reward_sum", reward(report.reward_sum)), " game reward and ", fig("paid_steps.paid_sum", reward(report.paid_sum)), " shaping reward in the last ", fig("paid_steps.kept", count(report.kept)), " steps, as PPO receives it. With TRAINER_SHAPING_MODE=potential, each step after a rise is slightly negative because of discounting.");
  }
}

/** Whether the screen is live; while it is paused or rewound, these steps are kept. @param {any} live */
const isLive = (live) => live.mode === "live";

/** Step of the picture that is shown, be it the newest or an earlier one. @param {any} app @returns {number | undefined} */
function shownStep({ live, store }) {
  const earlier = isLive(live) ? null : live.rewind?.shown?.buffer;
  return earlier ? readHeader(earlier).step : store.state.screen?.env_step;
}

/** @type {import("../../parts.js").Panel} */
export const steps = {
  id: "steps", title: "Reward per step (live)", sections: ["screen"],
  mount(body, app, scope) {
    const mounted = new Steps(body, app, scope);
    return () => mounted.follow();
  },
};
