// A REST response shown by a panel: pending, received or failed. Requests to an unavailable service are repeated.

import { ApiProblem } from "./api.js";
import { h } from "./dom.js";

const RETRY = 10_000; // ms

/**
 * @template T
 * @typedef {object} Got
 * @property {T | null} value  the latest response
 * @property {ApiProblem | null} problem  why the last request failed
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
   * @param {import("./scope.js").Scope} scope  ends all updates
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

  /** Request a path; the response of an earlier request is dropped. @param {string} [path]  defaults to the previous one */
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

/** Whether the service is unavailable and may respond later. @param {ApiProblem} problem */
export const isAway = ({ status }) => status === null || status >= 502;

/** The reason of a failed request, with a button to repeat it. @param {ApiProblem} problem @param {() => void} again */
export function whyNot(problem, again) {
  return h("p", { class: "notice", "data-tone": problem.status === 404 ? null : "bad" },
    h("b", {}, problem.title), problem.detail ? h("span", { class: "reported" }, `: ${problem.detail} `) : " ",
    h("button", { type: "button", class: "quiet small", onclick: again }, "Try again"));
}
