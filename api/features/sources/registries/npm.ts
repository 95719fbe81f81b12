import { addDays } from "../../../../schemas/date-range.js";
import { DAY, type Registry, WHOLE, compileAnswer, fieldsOf, listOf } from "./registry.js";

const read = compileAnswer<{ downloads: { day: string; downloads: number }[] }>(
  fieldsOf({ downloads: listOf(fieldsOf({ day: DAY, downloads: WHOLE }), 1_000) }),
);

/** A year and a half, the most that is answered for one package. */
const DAYS = 547;

/**
 * Downloads of tarballs by day, of all versions. A day is counted soon after its end; a day that was not counted is 0.
 * Source: https://github.com/npm/registry/blob/main/docs/download-counts.md
 */
export const npm: Registry = {
  url: "https://api.npmjs.org",
  title: "npm",
  noun: "package",
  name: {
    pattern: /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[A-Za-z0-9~-][A-Za-z0-9~._-]{0,213}$/,
    example: "@acme/tool",
  },
  pageOf: (name) => `https://www.npmjs.com/package/${name}`,
  pages: [{ hosts: ["npmjs.com", "www.npmjs.com"], path: /^\/package\/((?:@[^/]+\/)?[^/]+)/ }],
  packageOf: (name) => ({ name, libraryType: "npm" }),
  ask: ({ name, today }) => [
    {
      path: `/downloads/range/${addDays(today, -DAYS)}:${addDays(today, -1)}/${name}`,
    },
  ],
  read: (answer) => ({
    counts: read(answer).downloads.map(({ day, downloads }) => ({
      date: day,
      metric: "downloads",
      value: downloads,
    })),
  }),
};
