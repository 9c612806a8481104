// Reward models: which is live, all that were published or refused, two side by side.

import { h } from "../dom.js";
import { mountPanels } from "../panel.js";
import { loads } from "../panels/loads.js";
import { changes } from "../panels/models/changes.js";
import { Chosen } from "../panels/models/chosen.js";
import { compare } from "../panels/models/compare.js";
import { lineage } from "../panels/models/lineage.js";
import { now } from "../panels/models/now.js";
import { Records } from "../panels/models/records.js";
import { refused } from "../panels/models/refused.js";
import { versions } from "../panels/models/versions.js";
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
    const chosen = new Chosen(query.get("compare"), (compare) => app.setQuery({ compare }));
    scope.add(mountPanels(all, app, [now, watch, lineage(records), compare(records, chosen), versions(records, chosen), loads, refused(records), changes]));
    return () => scope.end();
  },
};
