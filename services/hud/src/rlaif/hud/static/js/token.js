// Bearer token for write requests: kept until the tab is closed, sent only in the Authorization header.

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
