import { type Registry, TEXT, WHOLE, compileAnswer, fieldsOf, listOf } from "./registry.js";

const read = compileAnswer<{ number: string; platform?: string; downloads_count: number }[]>(
  listOf(fieldsOf({ number: TEXT, platform: TEXT, downloads_count: WHOLE }, ["platform"]), 10_000),
);

/**
 * Downloads of each version since it exists: days are differences. No history.
 * Source: https://guides.rubygems.org/rubygems-org-api/#gem-version-methods
 */
export const rubygems: Registry = {
  url: "https://rubygems.org",
  noun: "gem",
  name: { pattern: /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/, example: "rails" },
  pageOf: (name) => `https://rubygems.org/gems/${name}`,
  ask: ({ name }) => [{ path: `/api/v1/versions/${name}.json` }],
  read: (answer) => ({
    counters: read(answer).map(({ number, platform = "ruby", downloads_count: value }) => ({
      key: `${number} ${platform}`,
      version: number,
      metric: "downloads",
      value,
    })),
  }),
};
