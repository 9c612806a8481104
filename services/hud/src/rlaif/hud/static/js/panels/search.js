// The search of a run: its figures, and the progress that it found. Hidden without a search.

import { h, show } from "../dom.js";
import { compact, count } from "../format.js";
import { facts, fig } from "../parts.js";

const MAX_FINDS = 200;

function draw(body, { search, run }) {
  body.parentElement.hidden = !search;
  if (!search) return show(body);
  const scrolled = body.querySelector(".scroll")?.scrollTop ?? 0;
  show(body, figures(search, run), finds(search));
  body.querySelector(".scroll").scrollTop = scrolled;
}

/** Whole minutes, above an hour too: a number with one unit. */
const minutes = (seconds) => (seconds === null ? "—" : seconds < 60 ? `${Math.round(seconds)} s` : `${count(Math.floor(seconds / 60))} min`);

function figures(search, run) {
  const figure = (name, text) => fig(`search.${name}`, text(search[name]));
  const rate = search.seconds ? search.frames / search.seconds : null;
  const paused = run && !["training", "starting"].includes(run.status);
  return facts([
    ["Search", h("span", {}, search.running ? (paused ? "paused " : "running ") : "finished ", h("small", {}, "after ", figure("seconds", minutes))), "Search time over all attempts"],
    ["Frames", h("span", {}, figure("frames", compact), h("small", {}, " ", fig("search.frames/search.seconds", compact(rate)), "/s")), `${count(search.frames)} emulated frames of all workers`],
    ["Level", figure("level", compact), "Highest progress score reached (used to select start states)"],
    ["Flags", h("span", {}, figure("marks", count), h("small", {}, " latest at ", figure("found_seconds", minutes))), "Distinct progress flags found, such as items and opened doors"],
    ["States kept", figure("nodes", count)],
    ["Workers", figure("workers", count)],
    ["Left", h("span", {}, figure("seconds_left", minutes), h("small", {}, search.running ? " at the latest" : "")), "Time until the search ends at the latest"],
  ]);
}

/** Every new flag and its level, newest first. */
function finds({ tree, tree_left_out: left }) {
  if (!tree.length) return h("div", { class: "scroll" }, h("p", { class: "empty" }, "No progress found yet."));
  const rows = tree.flatMap((node, index) => node.marks.map((mark) => ({ mark, node, index }))).reverse();
  const row = ({ mark, node, index }) => h("li", {},
    h("span", { class: "reported" }, mark),
    h("span", { class: "sub" }, "level ", fig(`search.tree.${index}.level`, compact(node.level)), " after ", fig(`search.tree.${index}.frames`, compact(node.frames)), " frames, ", fig(`search.tree.${index}.seconds`, minutes(node.seconds))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Findings of the search, newest first" },
    h("ol", { class: "finds" }, ...rows.slice(0, MAX_FINDS).map(row)),
    left ? h("p", { class: "sub" }, fig("search.tree_left_out", count(left)), " other findings are not listed.") : null);
}

function mount(_body, app, scope) {
  /** @type {string | undefined} */
  let status;
  // A search is paused while its run is; the run's figures change every second, its status rarely.
  scope.add(app.store.watch(["run"], ({ run }) => {
    if (run?.status !== status) app.store.merge({ search: app.store.state.search });
    status = run?.status;
  }));
}

/** @type {import("../panel.js").Panel} */
export const search = { id: "search", title: "Search", sections: ["search"], hidden: true, mount, draw };
