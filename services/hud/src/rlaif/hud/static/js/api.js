// REST client of all pages. Failures are thrown as displayable problems.

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
