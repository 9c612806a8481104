// REST client of all pages. Failures are thrown as displayable problems; a write prompts for the token if the HUD requires it.

import { h } from "./dom.js";
import { token } from "./kept.js";
import { based } from "./routes.js";

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
