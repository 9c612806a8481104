import assert from "node:assert/strict";
import { test } from "node:test";

import { csv } from "../../../services/hud/src/rlaif/hud/static/js/charts/words.js";

test("a chart's values are CSV by step, oldest first; what is unknown is an empty cell", () => {
  const lines = [
    { name: "mean", style: 1, points: [[10, 0.5], [20, null]] },
    { name: 'of "v1", shaped', style: 2, points: [[20, -1.25]] },
  ];
  const text = decodeURIComponent(csv(lines).replace("data:text/csv;charset=utf-8,", ""));
  assert.equal(text, 'env_step,"mean","of ""v1"", shaped"\n10,0.5,\n20,,-1.25\n');
});
