// REST documents that panels show: pending, received or failed; polled while the page is visible, repeated while the service is away.

import { ApiProblem } from "./api.js";
import { h } from "./dom.js";
import { empty } from "./parts.js";
import { withQuery } from "./routes.js";

const RETRY = 10_000; // ms
const MAX_HIDDEN = 1500; // ms

export class Answer {
  /** The latest response. @type {any} */
  value = null;
  /** Why the last request failed. @type {ApiProblem | null} */
  problem = null;
  loading = false;
  #api;
  #path;
  /** @type {((answer: Answer) => void)[]} */
  #draws = [];
  /** @type {AbortController | null} */
  #asking = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;

  /** @param {import("./app.js").App} app @param {import("./dom.js").Scope} scope  ends all updates @param {{path?: string, every?: number}} [how]  what is requested first, and again each `every` ms */
  constructor(app, scope, { path, every } = {}) {
    this.#api = app.api;
    this.#path = path;
    scope.add(() => {
      this.#asking?.abort();
      clearTimeout(this.#again);
    });
    if (path) void this.ask();
    if (!every) return;
    const poll = () => document.hidden || this.loading || this.ask();
    scope.every(every, poll);
    scope.on(document, "visibilitychange", poll);
  }

  /** Call `draw` now and at each change; a value is kept while a newer one is loading. @param {(answer: Answer) => void} draw */
  watch(draw) {
    this.#draws.push(draw);
    draw(this);
    return this;
  }

  /** Request a path; the response of an earlier request is dropped. @param {string} [path]  defaults to the previous one */
  async ask(path = this.#path) {
    if (path === undefined) return;
    if (path !== this.#path) this.value = this.problem = null;
    this.#path = path;
    this.#asking?.abort();
    clearTimeout(this.#again);
    const asking = new AbortController();
    this.#asking = asking;
    this.loading = true;
    if (this.value === null) this.#report();
    try {
      this.value = await this.#api.get(path, { signal: asking.signal });
      this.problem = null;
    } catch (error) {
      if (asking.signal.aborted) return;
      if (!(error instanceof ApiProblem)) throw error;
      this.problem = error;
    }
    if (asking.signal.aborted) return;
    if (this.problem && isAway(this.problem)) this.#again = setTimeout(() => void this.ask(), RETRY);
    this.loading = false;
    this.#report();
  }

  /** The content of the value, or why there is none. @template T @param {(value: any) => T} make @param {string} [loading] */
  content(make, loading = "Loading…") {
    if (this.value) return make(this.value);
    return this.problem ? this.notice() : empty(loading);
  }

  /** Why the last request failed, with a button to repeat it; null if it did not. */
  notice() {
    return this.problem && whyNot(this.problem, () => void this.ask());
  }

  #report() {
    for (const draw of this.#draws) draw(this);
  }
}

/** Hide a page until its first answers came: one after the other they would move what is there. @param {HTMLElement} root @param {(Answer | Promise<unknown>)[]} first @returns {() => void} shows it */
export function hiddenUntil(root, first) {
  root.style.visibility = "hidden";
  const reveal = () => void (root.style.visibility = "");
  const settled = first.map((each) => (each instanceof Answer ? new Promise((done) => each.watch(({ value, problem }) => (value || problem) && done(null))) : each));
  void Promise.race([Promise.allSettled(settled), new Promise((done) => setTimeout(done, MAX_HIDDEN))]).then(reveal);
  return reveal;
}

/** A path, for the run that the address of the page names, if it names one. @param {string} path */
export const ofRun = (path) => withQuery(path, { run: new URLSearchParams(location.search).get("run") });

/** Whether the service is unavailable and may respond later. @param {ApiProblem} problem */
export const isAway = ({ status }) => status === null || status >= 502;

/** The reason of a failed request, with a button to repeat it. @param {ApiProblem} problem @param {() => void} again */
export function whyNot(problem, again) {
  return h("p", { class: "notice", "data-tone": problem.status === 404 ? null : "bad" },
    h("b", {}, problem.title), problem.detail ? h("span", { class: "reported" }, `: ${problem.detail} `) : " ",
    h("button", { type: "button", class: "quiet small", onclick: again }, "Try again"));
}
