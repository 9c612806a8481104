// The newest scores, one row a segment. Rows that stay are kept, so that focus and scroll stay too.

import { byId, h, show } from "../dom.js";
import { ago } from "../clock.js";
import { decimal, percent } from "../format.js";
import { bar01, CRITERIA, decidedBy, empty, fig, whyUnknown } from "../parts.js";
import { openSegment } from "./segment.js";

const rows = new Map(); // segment id → {version, element}
let body = null;

export function drawScores({ segments, loop }) {
  if (!segments.length) {
    body = null;
    rows.clear();
    show(byId("scores"), empty(loop?.scored ? "The newest scores are being read from the store." : "No score yet. A row appears here for each segment that the judges answered."));
    return;
  }
  if (!body) {
    body = h("tbody");
    show(byId("scores"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Judge scores" }, h("table", {}, head(), body)));
  }
  const wanted = segments.map(keep);
  const current = new Set(segments.map((row) => row.segment_id));
  for (const id of [...rows.keys()]) if (!current.has(id)) rows.delete(id);
  if (wanted.length !== body.children.length || wanted.some((element, index) => element !== body.children[index])) body.replaceChildren(...wanted);
}

function keep(row) {
  const version = `${row.scored_at} ${row.score !== null} ${row.score_problem}`;
  const old = rows.get(row.segment_id);
  if (old?.version === version) return old.element;
  const element = tableRow(row);
  rows.set(row.segment_id, { version, element });
  return element;
}

const head = () => h("thead", {}, h("tr", {}, ...["Segment", ...CRITERIA, "Weighted", "By judges", "Agreement", "Rationale"].map((name) => h("th", { scope: "col" }, capital(name)))));

function tableRow(row) {
  const first = row.score?.rationales[0];
  return h("tr", {},
    h("td", {}, h("button", { type: "button", class: "open", onclick: () => openSegment(row) }, row.segment_id), h("small", {}, ago(row.scored_at))),
    ...(row.score ? CRITERIA.map((name) => criterion(row, name)) : [h("td", { class: "unread", colspan: CRITERIA.length }, row.score_problem)]),
    h("td", { class: "score", "data-label": "Weighted" }, ...bar01(`segments.${row.segment_id}.weighted`, row.weighted, { kind: "weighted" })),
    h("td", { class: "score", "data-label": "By judges", title: "Share of the judged weight that language models voted on; the rest was computed from the game's memory" }, fig(`segments.${row.segment_id}.score.shares.votes`, percent(row.score?.shares.votes))),
    h("td", { class: "score", "data-label": "Agreement" }, fig(`segments.${row.segment_id}.score.agreement`, percent(row.score?.agreement))),
    h("td", { class: "rationale" }, first ? h("span", { title: `${first.judge}: ${first.text}` }, first.text) : ""));
}

function criterion(row, name) {
  const score = row.score?.criteria[name];
  const by = decidedBy(score);
  const title = score ? (by ? `${by}; ${score.judge}` : `Votes ${score.votes.join(", ")}; ${score.judge}`) : whyUnknown(row, name);
  return h("td", { class: "score", "data-label": capital(name), title: score ? `${name} ${decimal(score.value)}` : null }, ...bar01(`segments.${row.segment_id}.score.criteria.${name}.value`, score?.value ?? null, { title, source: by }));
}

const capital = (word) => word[0].toUpperCase() + word.slice(1);
