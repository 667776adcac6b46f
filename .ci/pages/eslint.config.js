import js from "@eslint/js";
import globals from "globals";
import imports from "eslint-plugin-import";

export default [
  { ignores: ["assets/vendor/**", "**/node_modules/**"] },
  js.configs.recommended,
  {
    files: ["**/*.js"],
    plugins: { import: imports },
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.browser },
    rules: {
      eqeqeq: ["error", "smart"],
      "import/no-cycle": "error",
      "import/no-unresolved": "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true, caughtErrors: "none" },
      ],
      "no-unused-private-class-members": "off", // it does not count ||= as a use
    },
  },
  {
    files: [".ci/pages/**/*.js"],
    languageOptions: { globals: globals.node },
  },
  {
    files: ["assets/tablet/worker.js"], // the service writes version and files before its first line
    languageOptions: { globals: { ...globals.serviceworker, version: "readonly", files: "readonly" } },
  },
];
