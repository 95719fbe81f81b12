import { DAY, type Registry, TEXT, WHOLE, compileAnswer, fieldsOf, listOf } from "./registry.js";

const read = compileAnswer<{ data: { category: string; date: string; downloads: number }[] }>(
  fieldsOf({ data: listOf(fieldsOf({ category: TEXT, date: DAY, downloads: WHOLE }), 1_000) }),
);

/**
 * Downloads by day of the last 180 days, of all versions, without those of known mirrors. PyPI itself has no such API;
 * pypistats.org, of the Python Software Foundation, has the daily sums of its download logs.
 * Source: https://pypistats.org/api/
 */
export const pypi: Registry = {
  url: "https://pypistats.org",
  title: "PyPI",
  noun: "project",
  name: { pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/, example: "requests" },
  pageOf: (name) => `https://pypi.org/project/${name}/`,
  pages: [{ hosts: ["pypi.org", "pypistats.org"], path: /^\/(?:project|packages)\/([^/]+)/ }],
  packageOf: (name) => ({ name, libraryType: "pypi" }),
  ask: ({ name }) => [{ path: `/api/packages/${normalised(name)}/overall?mirrors=false` }],
  read: (answer) => ({
    counts: read(answer)
      .data.filter(({ category }) => category === "without_mirrors")
      .map(({ date, downloads }) => ({ date, metric: "downloads", value: downloads })),
  }),
};

/** PEP 503: the name of a project in addresses. */
function normalised(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}
