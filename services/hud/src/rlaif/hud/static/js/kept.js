// Browser storage; silently disabled where the browser does not allow it.

/** @type {Pick<Storage, "getItem" | "setItem" | "removeItem">} */
export const kept = {
  /** @param {string} name @returns {string | null} */
  getItem(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },

  /** @param {string} name @param {string} value */
  setItem(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // full, or forbidden
    }
  },

  /** @param {string} name */
  removeItem(name) {
    try {
      localStorage.removeItem(name);
    } catch {
      // forbidden
    }
  },
};

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
