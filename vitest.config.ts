import { defineConfig } from "vitest/config";

export default defineConfig({
  // Node 20 cannot parse `await using`.
  oxc: { target: "es2022" },
  test: {
    // Each system test file starts stores of its own; more of them at once would only wait for each other.
    maxWorkers: 2,
    // Polls end as soon as they may; the default second would fail them on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          testTimeout: 15_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts"],
          globalSetup: ["test/support/build.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "kafka",
          include: ["test/kafka/**/*.test.ts"],
          globalSetup: ["test/support/build.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
