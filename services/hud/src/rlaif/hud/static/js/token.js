// The bearer token that a person typed for writes: it lives as long as the tab, and goes nowhere but into one header.

const NAME = "rlaif.token";

export const token = {
  /** @returns {string | null} */
  get: () => sessionStorage.getItem(NAME),

  /** @param {string | null} value */
  set(value) {
    if (value) sessionStorage.setItem(NAME, value);
    else sessionStorage.removeItem(NAME);
  },
};
