// What each of the newest steps was paid, part by part: every bar sums to the reward of its step, or says what is left.

import { createAxis, Cursor } from "../../charts/axis.js";
import { timeChart } from "../../charts/chart.js";
import { h, setText, show } from "../../dom.js";
import { count, reward } from "../../format.js";
import { fig } from "../../parts.js";
import { appended, stepChart } from "./specs.js";

/** @typedef {import("../../app.js").App} App @typedef {import("./specs.js").PaidSteps} PaidSteps */

const LOOK_AGAIN = 1000; // ms
const NAME = "Reward per step";
const PATH = "/api/v1/steps";
const STEP = 20; // where in a frame its environment step stands

class Steps {
  /** @type {PaidSteps | null} */
  #report = null;
  #asking = false;
  #seen = false;
  #axis = createAxis();
  #cursor = new Cursor();

  /** @param {HTMLElement} body @param {App} app @param {import("../../scope.js").Scope} scope */
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
    scope.every(LOOK_AGAIN, () => this.#look());
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

  /** @param {boolean} seen */
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
    show(this.sums, fig("paid_steps.reward_sum", reward(report.reward_sum)), " game reward and ", fig("paid_steps.paid_sum", reward(report.paid_sum)), " shaping reward in the last ", fig("paid_steps.kept", count(report.kept)), " steps.");
  }
}

/** Whether the screen is live; while it is paused or rewound, these steps are kept. @param {any} live */
const isLive = (live) => !live.paused && (live.mode ?? "live") === "live";

/** Step of the picture that is shown, be it the newest or an earlier one. @param {any} app @returns {number | undefined} */
function shownStep({ live, store }) {
  const earlier = isLive(live) ? null : live.rewind?.shown?.buffer;
  return earlier ? new DataView(earlier).getUint32(STEP, true) : store.state.screen?.env_step;
}

/** @type {WeakMap<HTMLElement, Steps>} */
const mounted = new WeakMap();

/** @type {import("../../panel.js").Panel} */
export const steps = {
  id: "steps", title: "Reward per step (live)", sections: ["screen"],
  mount: (body, app, scope) => void mounted.set(body, new Steps(body, app, scope)),
  draw: (body) => mounted.get(body)?.follow(),
};
