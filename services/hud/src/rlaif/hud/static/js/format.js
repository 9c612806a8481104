// Numbers, times and ages for people, and the offset of the HUD's clock. What is not known is "—", never 0.

import { h, setText } from "./dom.js";

export const UNKNOWN = "—";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });
const two = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const one = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const digits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
const signed = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "exceptZero" });
const share = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const known = (value) => value !== null && value !== undefined;
const minus = (text) => text.replace("-", "−");
const numberWith = (format) => (value) => (known(value) ? minus(format.format(value)) : UNKNOWN);

export const count = numberWith(whole);
export const compact = numberWith(short);
export const decimal = numberWith(two);
export const tenth = numberWith(one);
export const reward = numberWith(signed);
export const significant = numberWith(digits);

/** 1,199 of 1,249 → "96 %"; nothing out of nothing is not known. */
export function percentOf(part, all) {
  return known(part) && all ? percent(part / all) : UNKNOWN;
}

export function percent(ratio) {
  return known(ratio) ? minus(share.format(ratio).replace("%", " %")) : UNKNOWN;
}

/** Seconds: below 1 s in ms, below 60 s with one decimal, else minutes. */
export function duration(seconds) {
  if (!known(seconds)) return UNKNOWN;
  if (seconds < 1) return `${whole.format(seconds * 1000)} ms`;
  if (seconds < 60) return `${one.format(seconds)} s`;
  return age(seconds);
}

/** Whole seconds, minutes, hours or days. */
export function age(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d`;
}

export const timeOfDay = (iso) => clockTime.format(new Date(iso));

/** The time, and the date unless it is today's. */
export function dated(iso) {
  const at = new Date(iso);
  return at.toDateString() === new Date(hudNow()).toDateString() ? timeOfDay(iso) : `${day.format(at)} ${timeOfDay(iso)}`;
}

/** The text of anything thrown. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

export const hex = (value) => `0x${value.toString(16).toUpperCase().padStart(2, "0")}`;

const KEPT = 8;

let offset = 0; // HUD clock minus this browser's, ms
/** @type {{trip: number, offset: number}[]} */
let answers = [];

/** Estimate the offset from a message just received, whose transmission time is unknown. */
export function setClock(iso) {
  if (!answers.length) offset = Date.parse(iso) - Date.now();
}

/** Estimate the offset from a request and its response; the one with the shortest round trip is used. */
export function syncClock(iso, asked, answered) {
  answers = [...answers, { trip: answered - asked, offset: Date.parse(iso) - (asked + answered) / 2 }].slice(-KEPT);
  offset = answers.reduce((best, each) => (each.trip < best.trip ? each : best)).offset;
}

/** Discard the estimate: another HUD instance may respond. */
export function forgetClock() {
  answers = [];
}

/** Shortest round trip in ms; null before the first response. */
export const roundTrip = () => (answers.length ? Math.min(...answers.map(({ trip }) => trip)) : null);

/** ms since 1970 by the HUD's clock. */
export const hudNow = () => Date.now() + offset;

/** Seconds since a time of the HUD's clock. */
export function secondsSince(iso) {
  return (hudNow() - Date.parse(iso)) / 1000;
}

/** A time as an age that ticks: "12 s ago". */
export function ago(iso, { prefix = "", suffix = " ago" } = {}) {
  const element = h("time", { datetime: iso, title: `${iso} (${timeOfDay(iso)})`, "data-prefix": prefix, "data-suffix": suffix });
  refresh(element);
  return element;
}

function refresh(element) {
  const seconds = secondsSince(element.getAttribute("datetime"));
  setText(element, `${element.dataset.prefix}${age(seconds)}${element.dataset.suffix}`);
}

/** Update all ages. */
export function tickAges() {
  for (const element of document.querySelectorAll("time[data-suffix]")) refresh(element);
}

const SHOWN = 14;

/** The end of an id: its beginning is the run's. @param {string} id */
export const shortId = (id) => (id.length <= SHOWN ? id : `…${id.slice(1 - SHOWN)}`);

/** A room by its name, or by its number. @param {{group: number | null, room: number | null, name?: string | null}} place */
export function roomName({ group, room, name }) {
  if (room === null) return UNKNOWN;
  return name ?? `${group ? `${group}:` : ""}${hex(room)}`;
}
