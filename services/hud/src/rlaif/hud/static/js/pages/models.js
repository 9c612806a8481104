// Reward models: which is live, all that were published or rejected, two side by side.

import { h } from "../dom.js";
import { mountPanels } from "../panel.js";
import { loads } from "../panels/loads.js";
import { changes } from "../panels/models/changes.js";
import { Chosen, compare } from "../panels/models/compare.js";
import { now } from "../panels/models/now.js";
import { Records } from "../panels/models/records.js";
import { rejected, versions } from "../panels/models/versions.js";
import { watch } from "../panels/models/watch.js";
import { Scope } from "../scope.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Reward models",
  mount(root, app, { query }) {
    const scope = new Scope();
    const all = h("div", { id: "models", class: "models-page" });
    root.append(all);
    const records = new Records(app, scope);
    const chosen = new Chosen(query.get("compare"), (pair) => app.setQuery({ compare: pair }));
    scope.add(mountPanels(all, app, [now, watch, compare(records, chosen), versions(records, chosen), loads(), rejected(records), changes]));
    return () => scope.end();
  },
};
