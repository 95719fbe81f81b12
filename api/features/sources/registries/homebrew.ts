import { addDays } from "../../../../schemas/date-range.js";
import { type Registry, WHOLE, compileAnswer, fieldsOf } from "./registry.js";

const WINDOW = { type: "object", additionalProperties: WHOLE, maxProperties: 1_000 } as const;
const read = compileAnswer<{ analytics: { install: { "30d": Record<string, number> } } }>(
  fieldsOf({ analytics: fieldsOf({ install: fieldsOf({ "30d": WINDOW }) }) }),
);

/**
 * Installs of the last 30 days, by people who let Homebrew count. There are no days: one count stands for the 30 days that
 * end with its date, and the next is taken when they are over, so that counts never overlap.
 * Source: https://formulae.brew.sh/docs/api/
 */
export const homebrew: Registry = {
  url: "https://formulae.brew.sh",
  title: "Homebrew",
  noun: "formula",
  windowDays: 30,
  name: { pattern: /^[a-z0-9][a-z0-9@._+-]{0,127}$/, example: "ripgrep" },
  pageOf: (name) => `https://formulae.brew.sh/formula/${name}`,
  pages: [{ hosts: ["formulae.brew.sh"], path: /^\/formula\/([^/]+)/ }],
  ask: ({ name }) => [{ path: `/api/formula/${encodeURIComponent(name)}.json` }],
  read(answer, _ask, { today }) {
    const installs = Object.values(read(answer).analytics.install["30d"]).reduce(
      (sum, each) => sum + each,
      0,
    );
    return { counts: [{ date: addDays(today, -1), metric: "installs", value: installs }] };
  },
};
