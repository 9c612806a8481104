// Browser storage, disabled where the browser does not allow it: settings, and the token of this tab.

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

  setItem(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // full, or forbidden
    }
  },

  removeItem(name) {
    try {
      localStorage.removeItem(name);
    } catch {
      // forbidden
    }
  },
};

const TOKEN = "rlaif.token";

export const token = {
  /** @returns {string | null} */
  get: () => sessionStorage.getItem(TOKEN),

  set(value) {
    if (value) sessionStorage.setItem(TOKEN, value);
    else sessionStorage.removeItem(TOKEN);
  },
};
