// All pages, and which of them a path is, also behind a proxy whose path comes first. Pure, so that it can be tested without a browser.

/** What comes before our addresses: "/user/ada/proxy/8086". @param {string} url  of a module of the page */
export const baseOf = (url) => (url.startsWith("http") ? new URL(url).pathname.split(/\/static\/(?!.*\/static\/)/)[0] : "");

export const BASE = baseOf(import.meta.url);

/** A page address such as "/segments", with the path prefix. @param {string} address */
export const based = (address) => (address.startsWith("/") ? BASE + address : address);

/** And back. @param {string} path */
export const unbased = (path) => (path.startsWith(`${BASE}/`) ? path.slice(BASE.length) : path);

/** @typedef {{path: string}} Route  path: "/models/:version"; ":name" is one part of the path */

/**
 * The route of a path, with its parameters, or null.
 *
 * @template {Route} R
 * @param {readonly R[]} routes
 * @param {string} path
 * @returns {{route: R, params: Record<string, string>} | null}
 */
export function match(routes, path) {
  const parts = split(path);
  for (const route of routes) {
    const params = compare(split(route.path), parts);
    if (params) return { route, params };
  }
  return null;
}

/** The address of a segment's page. @param {{episode_id: string, segment_id: string}} name */
export const addressOfSegment = ({ episode_id, segment_id }) => `/segments/${episode_id}/${segment_id}`;

const split = (path) => path.split("/").filter(Boolean);

/** @param {string[]} wanted @param {string[]} parts */
function compare(wanted, parts) {
  if (wanted.length !== parts.length) return null;
  /** @type {Record<string, string>} */
  const params = {};
  for (const [index, name] of wanted.entries()) {
    if (name.startsWith(":")) params[name.slice(1)] = decode(parts[index]);
    else if (name !== parts[index]) return null;
  }
  return params;
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone % is no escape
  }
}

/** An address with other values in its query; null, "" and undefined take a name out. @param {string} address  path and query @param {Record<string, string | number | null | undefined>} values */
export function withQuery(address, values) {
  const [path, text = ""] = address.split("?");
  const query = new URLSearchParams(text);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  const said = query.toString();
  return said ? `${path}?${said}` : path;
}

/** @typedef {import("./router.js").Entry} Entry  its module is loaded when the page is first opened; the navigation lists the entries with a label */

/** @type {readonly Entry[]} */
export const PAGES = [
  { name: "live", path: "/", label: "Live", key: "g l", load: () => import("./pages/live.js") },
  { name: "runs", path: "/runs", label: "Runs", key: "g n", load: () => import("./pages/runs.js") },
  { name: "segments", path: "/segments", label: "Segments", key: "g s", load: () => import("./pages/segments.js") },
  { name: "segment", path: "/segments/:episode_id/:segment_id", load: () => import("./pages/segment.js") },
  { name: "review", path: "/review", label: "Review", key: "g r", load: () => import("./pages/review.js") },
  { name: "models", path: "/models", label: "Models", key: "g m", load: () => import("./pages/models.js") },
  { name: "model", path: "/models/:version", load: () => import("./pages/model.js") },
  { name: "map", path: "/map", label: "Map", key: "g w", load: () => import("./pages/map.js") },
  { name: "llm", path: "/llm", label: "LLM", key: "g a", load: () => import("./pages/llm.js") },
  { name: "system", path: "/system", label: "System", key: "g y", load: () => import("./pages/system.js") },
];

/** @type {Entry} */
export const MISSING = { name: "missing", path: "", label: "Not found", load: () => import("./pages/missing.js") };

/** The entry of the navigation that a page belongs to: a segment belongs to the segments. @type {Record<string, string>} */
export const WITHIN = { segment: "segments", model: "models" };
