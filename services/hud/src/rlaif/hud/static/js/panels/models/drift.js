// What the live model pays against what judges give, over the run: an alarm when the one rises while the other falls, and what to do then.

import { whyNot } from "../../answer.js";
import { createAxis } from "../../charts/axis.js";
import { timeChart } from "../../charts/chart.js";
import { h, show } from "../../dom.js";
import { compact, count, decimal, percent, reward } from "../../format.js";
import { empty } from "../../parts.js";
import { Polled } from "../../polled.js";
import { activate } from "./change.js";
import { from } from "./figures.js";

/** @typedef {{before: number | null, after: number | null, n_before: number, n_after: number, higher: number | null, sigmas: number | null}} Shift */
/** @typedef {{env_step: number, version: number, paid_rank: number, score_rank: number | null}} DriftPoint */
/**
 * @typedef {object} Drift  as the REST interface tells it
 * @property {"alarm" | "quiet" | "too_few" | "no_model"} verdict
 * @property {number | null} version
 * @property {number | null} replaced
 * @property {number | null} since_step
 * @property {number | null} middle_step
 * @property {number | null} until_step
 * @property {Shift} paid
 * @property {Shift} judges
 * @property {number} least
 * @property {number} most
 * @property {number} share
 * @property {number} least_sigmas
 * @property {DriftPoint[]} points
 * @property {{version: number | null, step: number}[]} loads
 */

/** @typedef {import("../../charts/types.js").Point} Point */

export const DRIFT = "/api/v1/drift";
const EVERY = 15_000; // ms; an episode takes longer
const NOTE = "Mean rank among all episodes that the same model paid; its average lies in the middle.";

/** Both curves, the loads and where they lie; nothing is drawn through a load, as ranks begin anew there. @param {Drift} told */
export function curves({ points, loads, until_step: until }) {
  const field = (/** @type {string} */ name) => (points.length ? `${DRIFT}#points.-1.${name}` : undefined);
  const steps = [...points.map(({ env_step: step }) => step), ...loads.map(({ step }) => step), ...(until === null ? [] : [until])];
  const of = (/** @type {"paid_rank" | "score_rank"} */ name) => [
    ...points.map((point) => /** @type {Point} */ ([point.env_step, point[name]])),
    ...loads.filter(({ step }) => points.some(({ env_step: at }) => at < step) && points.some(({ env_step: at }) => at > step)).map(({ step }) => /** @type {Point} */ ([step, null])),
  ].sort(([one, first], [other, second]) => one - other || Number(first !== null) - Number(second !== null));
  return {
    reach: /** @type {import("../../charts/types.js").Span | null} */ (points.length ? [Math.min(...steps), Math.max(...steps)] : null),
    series: [
      { name: "paid by the model", style: 1, format: percent, points: of("paid_rank"), field: field("paid_rank") },
      { name: "given by judges", style: 2, format: percent, points: of("score_rank"), field: field("score_rank") },
    ],
    marks: loads.map(({ step, version }) => (version === null ? { step, label: "none" } : { step, label: `v${version}`, href: `/models/${version}` })),
  };
}

/** @type {import("../../panel.js").Panel} */
export const drift = {
  id: "models-drift",
  title: "Pay against judges",
  sections: ["reward_models"],
  draw(body, { reward_models: models }) {
    body.dispatchEvent(new CustomEvent("champion", { detail: models.champion?.version ?? null }));
  },
  mount(body, app, scope) {
    const [said, picture, rule] = [h("div"), h("div"), h("p", { class: "sub" })];
    show(body, said, picture, rule);
    const axis = createAxis();
    const chart = timeChart(picture, { axis, name: "Pay against judges", untitled: true, note: NOTE, series: [], format: percent, bounds: [0, 1], cursor: app.cursor, height: 180, none: "Starts when episodes that a reward model paid have ended.", onMark: (href) => app.go(href) });
    scope.add(() => chart.destroy());
    /** @type {Polled<Drift>} */
    const polled = new Polled(app, scope, DRIFT, EVERY);
    /** @type {number | null} */
    let champion = null;
    let drawn = "";
    const draw = (/** @type {import("../../answer.js").Got<Drift>} */ { value, problem }) => {
      const key = JSON.stringify([{ ...value, points: null, loads: null }, problem?.status, champion]);
      if (key !== drawn) {
        drawn = key; // else what has the focus keeps it
        show(said, ...(value ? words(value, champion, app) : problem ? [] : [empty("Asking…")]), problem ? whyNot(problem, () => polled.ask()) : null);
        show(rule, ...(value ? ruleOf(value) : []));
      }
      if (!value) return;
      const { reach, ...lines } = curves(value);
      picture.hidden = reach === null;
      axis.reach(reach);
      chart.update(lines);
    };
    polled.show(draw);
    scope.on(body, "champion", (/** @type {any} */ event) => {
      if (event.detail === champion) return;
      champion = event.detail;
      polled.ask();
    });
    polled.ask();
  },
};

/** @param {string} field @param {string} text */
const of = (field, text) => from(DRIFT, field, text);

/** @param {Drift} told @param {number | null} champion @param {import("../../app.js").App} app */
function words(told, champion, app) {
  const { verdict, version } = told;
  if (verdict === "no_model") return [empty("No reward model pays now. What is compared begins with the next one that the trainer loads.")];
  const live = h("a", { href: `/models/${version}` }, of("version", `v${version}`));
  if (verdict === "too_few") return [h("p", {}, h("b", {}, "Too few episodes to say. "), live, " has ", ...sides(told.paid, "paid"), " that ended since its load, ", ...sides(told.judges, "judges"), " that were judged; each half needs ", of("least", count(told.least)), ".")];
  if (verdict === "quiet") return [h("p", {}, h("b", { class: "good-text" }, "✓ no alarm"), ": ", live, " is not paying more for what judges think less of. ", ...amounts(told))];
  return [h("div", { class: "notice", "data-tone": "bad", role: "alert" },
    h("p", {}, h("b", {}, "✕ Alarm: ", live, " pays more and more for what judges think less and less of. "), ...amounts(told)),
    h("p", {}, h("b", {}, "What to do: "), "see ", h("a", { href: `/models/${version}` }, "what it pays for"), " and what the newest segments show; if it is being gamed, ", ...goBack(told, champion, app)))];
}

/** @param {Drift} told @param {number | null} champion @param {import("../../app.js").App} app */
function goBack({ version, replaced }, champion, app) {
  const list = h("a", { href: "#models-versions" }, "make another version live");
  if (version !== champion) return ["wait: the trainer is about to load another version, or ", list, "."];
  if (replaced === null) return [list, " or go on without one."];
  return [h("button", { type: "button", class: "small", onclick: () => activate(app, replaced, champion) }, `Go back to v${replaced}…`), " or ", list, "."];
}

/** "120 and 118 episodes" @param {Shift} shift @param {string} name */
const sides = ({ n_before: before, n_after: after }, name) => [of(`${name}.n_before`, count(before)), " and ", of(`${name}.n_after`, count(after)), " episodes"];

/** Both amounts in their own units, with how clear it is and of how many. @param {Drift} told */
function amounts({ paid, judges }) {
  const part = (/** @type {string} */ text, /** @type {Shift} */ shift, /** @type {string} */ name, /** @type {(value: any) => string} */ write) => [
    text, of(`${name}.before`, write(shift.before)), " → ", of(`${name}.after`, write(shift.after)), " (the later one is higher in ", of(`${name}.higher`, percent(shift.higher)), " of pairs of ", ...sides(shift, name), ")"];
  return [...part("Paid an episode ", paid, "paid", reward), ...part("; judges ", judges, "judges", decimal), "."];
}

/** @param {Drift} told */
function ruleOf(told) {
  const { share, least_sigmas: sigmas, least, most, since_step: since, middle_step: middle, until_step: until } = told;
  const step = (/** @type {string} */ name, /** @type {number | null} */ value) => of(name, compact(value));
  const window = middle === null ? [] : [" Halves now: steps ", step("since_step", since), " to ", step("middle_step", middle), " to ", step("until_step", until), "."];
  return ["The rule: since the live model was loaded, the later half of its episodes is paid more in at least ", of("share", percent(share)), " of pairs with one of the earlier half, judges give the later half less in at least as many, and both stand out by ", of("least_sigmas", decimal(sigmas)),
    " standard errors. Each half needs ", of("least", count(least)), " episodes; the newest ", of("most", count(most)), " that are kept count.", ...window, " Only ranks are compared. What came together need not be cause and effect."];
}
