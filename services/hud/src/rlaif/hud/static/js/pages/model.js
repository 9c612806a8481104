// One version of the reward model: training data, gate checks, shaping reward by slot, and episodes before and after each load.

import { Answer, panelOf } from "../api.js";
import { h, show } from "../dom.js";
import { loads } from "../panels/loads.js";
import { MODELS } from "../panels/models/figures.js";
import { calibrationOf, gateOf, head, madeOf, slotsOf } from "../panels/models/version/examination.js";
import { compare } from "../panels/models/versions.js";
import { mountPanels } from "../parts.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: ({ version }) => `Reward model v${version}`,
  mount(root, app, { version: text }, scope) {
    if (!/^[1-9]\d{0,8}$/.test(text)) {
      show(root, h("section", { class: "panel" }, h("h2", {}, "Reward model"), h("p", {}, `There is no version “${text}”: version names are numbers. See `, h("a", { href: "/models" }, "all versions"), ".")));
      return;
    }
    const version = Number(text);
    const all = h("div", { id: "model", class: "models-page" });
    root.append(h("p", { class: "crumbs" }, h("a", { href: "/models" }, "All reward models")), all);
    const path = `${MODELS}/${version}`;
    const [record, gate, examination] = [path, `${path}/gate`, `${path}/examination`].map((each) => new Answer(app, scope, { path: each }));
    scope.add(mountPanels(all, app, [
      head(version, record),
      loads({ id: "model-loads", title: "Before and after each load", version }),
      compare(version, record),
      panelOf("model-gate", "Gate checks", gate, (report) => gateOf(report, `${path}/gate`)),
      panelOf("model-calibration", "Calibration", examination, (report) => calibrationOf(report, `${path}/examination`)),
      panelOf("model-pays", "Shaping reward by observation slot", examination, (report) => slotsOf(report, `${path}/examination`)),
      panelOf("model-made", "Trained on", record, madeOf),
    ]));
    scope.add(app.keys.bind(stepping(version, app)));
  },
};

/** J and K open the next and the previous version. @param {number} version @param {import("../app.js").App} app */
function stepping(version, app) {
  let heading = version; // a key pressed before the next page is ready continues from that page
  const to = (/** @type {1 | -1} */ way) => {
    const known = app.store.state.reward_models?.published.map((/** @type {any} */ row) => row.version).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b) ?? [];
    const next = way > 0 ? known.find((/** @type {number} */ each) => each > heading) : known.filter((/** @type {number} */ each) => each < heading).at(-1);
    if (next === undefined) app.announce(way > 0 ? "This is the newest version" : "This is the first version");
    else app.go(`/models/${(heading = next)}`);
  };
  return { j: { label: "Previous version", run: () => to(-1) }, k: { label: "Next version", run: () => to(1) } };
}
