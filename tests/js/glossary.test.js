import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { GLOSSARY, meaningOf } from "../../services/hud/src/rlaif/hud/static/js/parts.js";

test("the hover texts are the definitions of docs/glossary.md", () => {
  const page = readFileSync(new URL("../../docs/glossary.md", import.meta.url), "utf8");
  const rows = new Map([...page.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map(([, term, meaning]) => [term, meaning]));
  for (const [term, meaning] of Object.entries(GLOSSARY)) assert.equal(rows.get(term), meaning, term);
});

test("a label is explained by the first term in it", () => {
  assert.match(meaningOf("Segments skipped") ?? "", /^segment: /);
  assert.match(meaningOf("Share of the reward model") ?? "", /^reward model: /);
  assert.equal(meaningOf("Latency p50"), null);
});
