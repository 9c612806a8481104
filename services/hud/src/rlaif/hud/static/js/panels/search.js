// The search of a run: how far it is, and its tree of progress. Nothing is shown while there is none.

import { h, show } from "../dom.js";
import { compact, count } from "../format.js";
import { facts, fig } from "../parts.js";
import { drawTree } from "../tree.js";

const MOST_FINDS = 200;

function draw(body, { search, run }) {
  body.parentElement.hidden = !search;
  if (!search) return show(body);
  const list = body.querySelector(".scroll");
  const scrolled = list?.scrollTop ?? 0;
  const picture = h("figure", {});
  show(body, figures(search, run), h("div", { class: "tree" }, picture, finds(search.tree)));
  drawTree(picture, search);
  const fresh = body.querySelector(".scroll");
  if (fresh) fresh.scrollTop = scrolled;
}

/** Whole minutes, above an hour too: a number with one unit. */
const minutes = (seconds) => (seconds === null ? "—" : seconds < 60 ? `${Math.round(seconds)} s` : `${count(Math.floor(seconds / 60))} min`);

function figures(search, run) {
  const figure = (name, text) => fig(`search.${name}`, text(search[name]));
  const rate = search.seconds ? search.frames / search.seconds : null;
  const rests = run && !["training", "starting"].includes(run.status);
  return facts([
    ["Search", h("span", {}, search.running ? (rests ? "paused " : "running ") : "finished ", h("small", {}, "after ", figure("seconds", minutes))), "Search time over all attempts"],
    ["Frames", h("span", {}, figure("frames", compact), h("small", {}, " ", fig("search.frames/search.seconds", compact(rate)), "/s")), `${count(search.frames)} emulated frames of all workers`],
    ["Level", figure("level", compact), "Highest progress score reached (used to select start states)"],
    ["Flags", h("span", {}, figure("marks", count), h("small", {}, " latest at ", figure("found_seconds", minutes))), "Distinct progress flags found, such as items and opened doors"],
    ["States kept", figure("nodes", count)],
    ["Workers", figure("workers", count)],
    ["Left", h("span", {}, figure("seconds_left", minutes), h("small", {}, search.running ? " at the latest" : "")), "Time until the search ends at the latest"],
  ]);
}

/** Every find in words, newest first: what the picture has no room for. */
function finds(tree) {
  const rows = tree.flatMap((node, index) => node.marks.map((mark) => ({ mark, node, index }))).reverse();
  const row = ({ mark, node, index }) => h("li", {},
    h("span", { class: "reported" }, mark),
    h("span", { class: "sub" }, fig(`search.tree.${index}.frames`, compact(node.frames)), " frames, ", fig(`search.tree.${index}.seconds`, minutes(node.seconds))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Findings of the search, newest first" },
    h("ol", { class: "finds" }, ...rows.slice(0, MOST_FINDS).map(row)));
}

function mount(body, app, scope) {
  let status = null;
  scope.on(window, "resize", () => app.store.known && draw(body, app.store.state));
  // A search rests while its run does; the run's figures change every second, its status seldom.
  scope.add(app.store.watch(["run"], (state) => {
    if (state.run?.status === status) return;
    status = state.run?.status;
    draw(body, state);
  }));
}

/** @type {import("../panel.js").Panel} */
export const search = { id: "search", title: "Search tree", sections: ["search"], hidden: true, mount, draw };
