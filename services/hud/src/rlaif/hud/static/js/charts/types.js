// The shapes that charts share. Nothing runs here.

/** @typedef {[number, number]} Span Two ends, the lower one first. */

/**
 * @typedef {[number, number | null] | [number, number | null, string]} Point
 * Environment step, value, and what the point stands for. A value that is not known is null.
 */

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {Point[]} points In the order of their steps; two may share one.
 * @property {number} style 1 to 7: colour, dashes and mark together.
 * @property {(value: number | null) => string} [format]
 * @property {string} [field] REST field of the newest value.
 * @property {[number, number, number][]} [band] Step, low, high: drawn behind the line.
 * @property {"line" | "dots"} [shape] Dots where each point is a thing of its own.
 * @property {boolean} [faint] Behind another line that says the same more clearly.
 * @property {boolean} [hidden] Hidden by default.
 */

/** @typedef {{step: number, label: string, href?: string, kind?: string}} Mark */

export {};
