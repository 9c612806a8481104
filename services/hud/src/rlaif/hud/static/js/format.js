// Numbers and times for people. What is not known is "—", never 0.

export const UNKNOWN = "—";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });
const two = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const one = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const signed = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: "exceptZero" });
const share = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 });
const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

const known = (value) => value !== null && value !== undefined;
const minus = (text) => text.replace("-", "−");
const numberWith = (format) => (value) => (known(value) ? minus(format.format(value)) : UNKNOWN);

export const count = numberWith(whole);
export const compact = numberWith(short);
export const decimal = numberWith(two);
export const tenth = numberWith(one);
export const reward = numberWith(signed);

/** 1,199 of 1,249 → "96 %"; nothing out of nothing is not known. */
export function percentOf(part, all) {
  return known(part) && all ? percent(part / all) : UNKNOWN;
}

export function percent(ratio) {
  return known(ratio) ? share.format(ratio).replace("%", " %") : UNKNOWN;
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

export const hex = (value) => `0x${value.toString(16).toUpperCase().padStart(2, "0")}`;
