import { DAY, type Registry, TEXT, WHOLE, compileAnswer, fieldsOf, listOf } from "./registry.js";

interface Answer {
  version_downloads: { version: number; date: string; downloads: number }[];
  versions?: { id: number; num: string }[];
  meta: { extra_downloads: { date: string; downloads: number }[] };
}

const ROWS_MAX = 10_000;
const read = compileAnswer<Answer>(
  fieldsOf(
    {
      version_downloads: listOf(fieldsOf({ version: WHOLE, date: DAY, downloads: WHOLE }), ROWS_MAX),
      versions: listOf(fieldsOf({ id: WHOLE, num: TEXT }), ROWS_MAX),
      meta: fieldsOf({ extra_downloads: listOf(fieldsOf({ date: DAY, downloads: WHOLE }), ROWS_MAX) }),
    },
    ["versions"],
  ),
);

/**
 * Downloads by day of the last 90 days: of the five most used versions each, and of the others together.
 * Sources: https://crates.io/data-access (a user agent that names the caller, one request a second) and
 * https://github.com/rust-lang/crates.io/blob/main/src/controllers/krate/downloads.rs
 */
export const crates: Registry = {
  url: "https://crates.io",
  title: "crates.io",
  noun: "crate",
  name: { pattern: /^[A-Za-z][A-Za-z0-9_-]{0,63}$/, example: "serde" },
  pageOf: (name) => `https://crates.io/crates/${name}`,
  pages: [{ hosts: ["crates.io"], path: /^\/crates\/([^/]+)/ }],
  ask: ({ name }) => [{ path: `/api/v1/crates/${name}/downloads?include=versions` }],
  read(answer) {
    const { version_downloads: ofVersions, versions = [], meta } = read(answer);
    const names = new Map(versions.map(({ id, num }) => [id, num]));
    const rows = [
      ...ofVersions.map(({ version, date, downloads }) => ({ version: names.get(version), date, downloads })),
      ...meta.extra_downloads.map((row) => ({ ...row, version: undefined })),
    ];
    return {
      counts: rows.map(({ version, date, downloads }) => ({
        date,
        ...(version !== undefined && { version }),
        metric: "downloads",
        value: downloads,
      })),
    };
  },
};
