// All pages. Each is loaded when it is opened first; those with a label stand in the navigation.

/** @typedef {import("../router.js").Entry} Entry */

/** @type {readonly Entry[]} */
export const PAGES = [
  { name: "live", path: "/", label: "Live", key: "g l", styles: ["map"], load: () => import("./live.js") },
  { name: "runs", path: "/runs", label: "Runs", key: "g n", load: () => import("./runs.js") },
  { name: "segments", path: "/segments", label: "Segments", key: "g s", load: () => import("./segments.js") },
  { name: "segment", path: "/segments/:episode_id/:segment_id", load: () => import("./segment.js") },
  { name: "review", path: "/review", label: "Review", key: "g r", styles: ["review"], load: () => import("./review.js") },
  { name: "models", path: "/models", label: "Models", key: "g m", load: () => import("./models.js") },
  { name: "model", path: "/models/:version", load: () => import("./model.js") },
  { name: "map", path: "/map", label: "Map", key: "g w", styles: ["map"], load: () => import("./map.js") },
  { name: "llm", path: "/llm", label: "LLM", key: "g a", styles: ["llm", "services"], load: () => import("./llm.js") },
  { name: "system", path: "/system", label: "System", key: "g y", styles: ["services"], load: () => import("./system.js") },
];

/** @type {Entry} */
export const MISSING = { name: "missing", path: "", label: "Not found", load: () => import("./missing.js") };

/** The entry of the navigation that a page belongs to: a segment belongs to the segments. @type {Record<string, string>} */
export const WITHIN = { segment: "segments", model: "models" };
