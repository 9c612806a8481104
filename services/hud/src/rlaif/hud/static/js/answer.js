// An answer of the REST interface that a panel shows: not yet there, there, or why not. Who is away is asked again.

import { ApiProblem } from "./api.js";
import { h } from "./dom.js";

const RETRY = 10_000; // ms

/**
 * @template T
 * @typedef {object} Got
 * @property {T | null} value  the newest that came
 * @property {ApiProblem | null} problem  why the last question had no answer
 * @property {boolean} loading
 */

/** @template T */
export class Answer {
  /** @type {T | null} */
  value = null;
  /** @type {ApiProblem | null} */
  problem = null;
  loading = false;
  #api;
  /** @type {string | null} */
  #path = null;
  #draw;
  /** @type {AbortController | null} */
  #asking = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;

  /**
   * @param {import("./app.js").App} app
   * @param {import("./scope.js").Scope} scope  when it ends, nothing is drawn any more
   * @param {(answer: Got<T>) => void} draw  called at each change
   */
  constructor(app, scope, draw) {
    this.#api = app.api;
    this.#draw = draw;
    scope.add(() => {
      this.#asking?.abort();
      clearTimeout(this.#again);
    });
  }

  /** Ask for a path; what an older question brings is dropped. @param {string} [path]  the one before when left out */
  async ask(path) {
    if (path !== undefined && path !== this.#path) this.value = this.problem = null;
    this.#path = path ?? this.#path;
    if (this.#path === null) return;
    this.#asking?.abort();
    clearTimeout(this.#again);
    const asking = new AbortController();
    this.#asking = asking;
    this.loading = true;
    this.#draw(this);
    try {
      this.value = await this.#api.get(this.#path, { signal: asking.signal });
      this.problem = null;
    } catch (error) {
      if (asking.signal.aborted) return;
      if (!(error instanceof ApiProblem)) throw error;
      this.problem = error;
    }
    if (asking.signal.aborted) return;
    if (this.problem && isAway(this.problem)) this.#again = setTimeout(() => void this.ask(), RETRY);
    this.loading = false;
    this.#draw(this);
  }
}

/** Whether somebody does not answer now, and may later. @param {ApiProblem} problem */
export const isAway = ({ status }) => status === null || status >= 502;

/** What went wrong with a question, and a button that asks again. @param {ApiProblem} problem @param {() => void} again */
export function whyNot(problem, again) {
  return h("p", { class: "notice", "data-tone": problem.status === 404 ? null : "bad" },
    h("b", {}, problem.title), problem.detail ? h("span", { class: "told" }, `: ${problem.detail} `) : " ",
    h("button", { type: "button", class: "quiet small", onclick: again }, "Try again"));
}
