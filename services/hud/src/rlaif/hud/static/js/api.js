// REST client of all pages: requests, documents that panels show (`Answer`), and what the browser keeps. Failures are thrown as
// displayable problems; a write prompts for the token if the HUD requires it.

import { h, show } from "./dom.js";
import { messageOf } from "./format.js";
import { empty } from "./parts.js";
import { based, withQuery } from "./routes.js";

/** Problem details of the service (RFC 9457). */
export class ApiProblem extends Error {
  /** @param {{title: string, detail: string, status: number | null, trace?: string | null}} problem */
  constructor({ title, detail, status, trace = null }) {
    super(detail || title);
    this.name = "ApiProblem";
    this.title = title;
    this.detail = detail;
    /** HTTP status; null without a response. */
    this.status = status;
    /** Trace id of the request in the logs. */
    this.trace = trace;
  }
}

/** @typedef {{signal?: AbortSignal, headers?: Record<string, string>}} Options */

export const api = {
  /** The JSON of `path`: "/api/v1/segments". @param {string} path @param {Options} [options] */
  get: (path, options = {}) => ask("GET", path, undefined, options),

  /** Send JSON with the bearer token. @param {string} path @param {unknown} [body] @param {Options} [options] */
  post: (path, body, options = {}) => ask("POST", path, body, options),

  /** Send JSON with another method. @param {"PUT" | "DELETE" | "PATCH"} method @param {string} path @param {unknown} [body] @param {Options} [options] */
  write: (method, path, body, options = {}) => ask(method, path, body, options),
};

/** @param {string} method @param {string} path @param {unknown} body @param {Options} options */
async function ask(method, path, body, { signal, headers = {} }) {
  const answer = await fetch(based(path), {
    method,
    signal,
    headers: { Accept: "application/json", ...sent(body), ...authorization(method), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new ApiProblem({ title: "The HUD does not respond", detail: "No response from the HUD. Is it running?", status: null });
  });
  const said = await answer.json().catch(() => null);
  if (answer.ok) return said;
  throw new ApiProblem({
    title: said?.title ?? `HTTP ${answer.status}`,
    detail: said?.detail ?? answer.statusText,
    status: answer.status,
    trace: traceOf(answer.headers.get("traceparent")),
  });
}

/** @param {unknown} body @returns {Record<string, string>} */
const sent = (body) => (body === undefined ? {} : { "Content-Type": "application/json" });

/** @param {string} method @returns {Record<string, string>} */
function authorization(method) {
  const known = method === "GET" ? null : token.get();
  return known ? { Authorization: `Bearer ${known}` } : {};
}

/** "00-<trace>-<span>-01" → the trace. @param {string | null} header */
export const traceOf = (header) => header?.split("-")[1] ?? null;

/** Thrown by `authorised` when the prompt is cancelled. */
export class GivenUp extends Error {}

/**
 * Run a write request. If the token is missing or wrong, prompt for it and retry. Returns the result of `work`;
 * throws its errors, or `GivenUp`.
 *
 * @template T
 * @param {() => Promise<T>} work  such as `() => app.api.post(path, body)`; repeated with the token
 * @param {string} purpose  what the token is for: "pin the champion"
 * @param {(purpose: string, wrong: string | null) => Promise<string | null>} [asking]  for tests
 * @returns {Promise<T>}
 */
export async function authorised(work, purpose, asking = askForToken) {
  for (;;) {
    const had = token.get();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
      const typed = await asking(purpose, had ? "Wrong token." : null);
      if (!typed) throw new GivenUp("no token entered");
      token.set(typed);
    }
  }
}

/** @param {string} purpose @param {string | null} wrong @returns {Promise<string | null>} */
function askForToken(purpose, wrong) {
  return new Promise((resolve) => {
    const field = h("input", { type: "password", id: "token-field", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-note" });
    const close = (/** @type {string | null} */ value) => {
      resolve(value);
      dialog.close();
      dialog.remove();
    };
    const dialog = h("dialog", { class: "token", "aria-labelledby": "token-title", oncancel: () => close(null) },
      h("h2", { id: "token-title" }, "Bearer token"),
      h("p", {}, `A token is required to ${purpose}.`),
      wrong ? h("p", { class: "notice", "data-tone": "bad", role: "alert" }, wrong) : null,
      h("form", {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (field.value.trim()) close(field.value.trim());
        },
      },
      h("label", { for: "token-field" }, "Token"), field,
      h("p", { id: "token-note", class: "sub" }, "Value of RLAIF_API_TOKEN; for a demo, api_token in secrets.json in the data folder. Kept until this tab is closed."),
      h("p", { class: "actions" }, h("button", { type: "button", onclick: () => close(null) }, "Cancel"), h("button", {}, "Continue"))));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Browser storage, disabled where the browser does not allow it. @type {Pick<Storage, "getItem" | "setItem" | "removeItem">} */
export const kept = {
  /** @param {string} name @returns {string | null} */
  getItem(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },

  setItem(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // full, or forbidden
    }
  },

  removeItem(name) {
    try {
      localStorage.removeItem(name);
    } catch {
      // forbidden
    }
  },
};

const TOKEN = "rlaif.token";

/** The token of this tab. */
export const token = {
  /** @returns {string | null} */
  get: () => sessionStorage.getItem(TOKEN),

  set(value) {
    if (value) sessionStorage.setItem(TOKEN, value);
    else sessionStorage.removeItem(TOKEN);
  },
};

const RETRY = 10_000; // ms
const MAX_HIDDEN = 1500; // ms

/** A REST document: pending, received or failed; polled while the page is visible, repeated while the service is away. */
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

/** A panel of a document; hidden where there is no such document, which the first panel of the page says. @param {string} id @param {string} title @param {Answer} answer @param {(value: any) => import("./dom.js").Child | import("./dom.js").Child[]} make @param {string} [loading] @returns {import("./parts.js").Panel} */
export const panelOf = (id, title, answer, make, loading) => ({
  id, title,
  mount: (body) => void answer.watch(({ value, problem }) => {
    /** @type {HTMLElement} */ (body.parentElement).hidden = problem?.status === 404;
    show(body, ...[value || !problem || !isAway(problem) ? answer.content(make, loading) : empty(`${problem.title}. Retrying automatically.`)].flat());
  }),
});

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

/** The reason of a failed request, with a button that repeats it where that can be done. @param {unknown} error @param {() => void} [again] */
export function whyNot(error, again) {
  const { title, detail, status, trace } = error instanceof ApiProblem ? error : { title: "The request failed", detail: messageOf(error), status: null, trace: null };
  return h("p", { class: "notice", "data-tone": status === 404 ? null : "bad" },
    h("b", {}, title), detail ? h("span", { class: "reported" }, `: ${detail} `) : " ",
    again ? h("button", { type: "button", class: "quiet small", onclick: again }, "Try again") : null,
    !again && trace ? h("span", { class: "sub" }, "Trace ", h("code", {}, trace)) : null);
}
