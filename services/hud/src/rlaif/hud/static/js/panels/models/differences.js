// What of two records of reward models is not the same: settings, judges, rubrics. Pure.

/** @typedef {{what: string, before: string, after: string}} Change */

/** @param {any} value @param {string} prefix @returns {[string, string][]} leaves as [path, text] */
function leaves(value, prefix) {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, inside]) => leaves(inside, prefix ? `${prefix}.${name}` : name));
  }
  return [[prefix, JSON.stringify(value)]];
}

/** Settings as they stand in a record, or none when it is of another time. @param {string | undefined} text @returns {Map<string, string>} */
export function settingsOf(text) {
  try {
    return new Map(leaves(JSON.parse(text || "{}"), ""));
  } catch {
    return new Map();
  }
}

/** @param {any} first @param {any} second  manifests @returns {Change[]} */
export function differences(first, second) {
  const unknown = "—";
  const plain = [
    ["judge configuration", first.judge_config, second.judge_config],
    ["observation layout", first.spec.layout_version, second.spec.layout_version],
    ["judge models", list(first.lineage?.models), list(second.lineage?.models)],
    ["judge prompts", list(first.lineage?.rubrics), list(second.lineage?.rubrics)],
  ];
  const [before, after] = [settingsOf(first.lineage?.settings), settingsOf(second.lineage?.settings)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return [...plain, ...names.map((name) => [`setting ${name}`, before.get(name) ?? unknown, after.get(name) ?? unknown])]
    .filter(([, one, other]) => one !== other)
    .map(([what, one, other]) => ({ what: String(what), before: String(one ?? unknown), after: String(other ?? unknown) }));
}

/** @param {string[] | undefined} values */
const list = (values) => (values ? values.join(", ") || "none" : undefined);
