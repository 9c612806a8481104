// The filters of the list: in the address, in the form, and in the question to the HUD they have the same names.

export const FILTERS = ["order", "run", "min_score", "max_score", "max_agreement", "milestone", "selected_by", "reward_model_version", "room", "scored"];

/** @type {[string, string, string][]} value, label, what it shows */
export const ORDERS = [
  ["newest", "Newest", "Most recently updated first"],
  ["disagreement", "Judges disagree", "Lowest agreement between votes first"],
  ["model_gap", "Judges vs. model", "Largest difference in rank between reward model and judges first, among segments of the same version"],
  ["highest_score", "Highest score", "Highest score first"],
  ["lowest_score", "Lowest score", "Lowest score first"],
];

/** What an address asks for; what is no filter, or empty, is left out. @param {URLSearchParams} query @returns {Record<string, string>} */
export function filtersOf(query) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value) found[name] = value;
  }
  if (found.order === "newest") delete found.order;
  return found;
}

/** The same as values of an address, with null for those that are not asked for. @param {Record<string, string>} filters @returns {Record<string, string | null>} */
export const addressOf = (filters) => Object.fromEntries(FILTERS.map((name) => [name, filters[name] ?? null]));

/** The question to the HUD. @param {Record<string, string>} filters @param {string | null} cursor @param {number} limit */
export function questionOf(filters, cursor, limit) {
  const query = new URLSearchParams({ ...filters, limit: String(limit) });
  if (cursor) query.set("cursor", cursor);
  return `/api/v1/segments?${query}`;
}

/** How many filters are set beside the order. @param {Record<string, string>} filters */
export const countOf = (filters) => Object.keys(filters).filter((name) => name !== "order").length;
