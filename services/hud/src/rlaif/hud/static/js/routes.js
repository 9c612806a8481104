// Which page a path is, also behind a proxy whose path comes first: pure, so that it can be tested without a browser.

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
