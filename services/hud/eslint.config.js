// What the page's modules and their tests are held to, besides types (tsconfig.json).

import js from "@eslint/js";

const MARKUP = "Text of a language model must stay text: build elements with h().";

export default [
  js.configs.recommended,
  {
    files: ["**/*.js"],
    rules: {
      "no-undef": "off", // tsc knows the browser's names better
      "no-unused-vars": ["error", { args: "after-used", caughtErrors: "all" }],
      "prefer-const": "error",
      "no-var": "error",
      eqeqeq: ["error", "always"],
      "no-implicit-coercion": ["error", { boolean: false }],
      "no-promise-executor-return": "off",
      "object-shorthand": "error",
      "no-console": ["error", { allow: ["warn", "error"] }],
      complexity: ["error", 20], // counts ?. and ?? as well, unlike the 12 of Python
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", { max: 80, skipComments: true }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: MARKUP },
        { property: "outerHTML", message: MARKUP },
        { property: "insertAdjacentHTML", message: MARKUP },
        { object: "document", property: "write", message: MARKUP },
      ],
      "no-restricted-imports": ["error", { patterns: [{ regex: "^[^.]", message: "The page imports its own modules only." }] }],
    },
  },
  {
    files: ["**/*.test.js"],
    rules: {
      "max-lines-per-function": "off",
      "no-restricted-imports": ["error", { patterns: [{ regex: "^(?!\\.|node:)", message: "Tests need node alone." }] }],
    },
  },
];
