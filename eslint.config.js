import tseslint from "typescript-eslint";

/** Type-aware, because the mistakes that hurt here (a floating promise, a forgotten await) need types to see. */
export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "data/", "test/fixtures/", "eslint.config.js"] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
      eqeqeq: "error",
      "no-restricted-syntax": [
        "error",
        { selector: "ExportDefaultDeclaration", message: "Name every export; no default exports." },
      ],
    },
  },
  // Preloaded into the built program as it is: no types to look at.
  { files: ["**/*.mjs"], ...tseslint.configs.disableTypeChecked },
  { files: ["vitest.config.ts"], rules: { "no-restricted-syntax": "off" } },
);
