import { expect, test } from "vitest";
import { readStatistics } from "../../../../aggregate/statistics/read-statistics.js";
import { STATISTICS_LISTS } from "../../../../schemas/contracts/breakdowns.js";
import { clickhouse, useClickHouse } from "../../../support/stores/use-clickhouse.js";

useClickHouse();

const PACKAGES = ["01a1fbad-ca48-70ed-9525-6dc0dcdf7c28", "01a1fbad-ca48-70ed-9525-6dc0dcdf7c29"];
const DAYS = 30;
/** More rows than are found by hash. */
const WHOLE = 1_002;

/** Few values with many events, and many with one, so that rows tie wherever a list is cut. */
const EVENTS = `INSERT INTO events
  (artifact, kind, library_type, time, unique_key, version, sign, company, company_domain, country, package_version, variables)
WITH sipHash64(number) AS random, toString(toUInt32(sqrt(random % 90000))) AS often
SELECT ['${PACKAGES.join("', '")}'][1 + random % 2], 'package', 'other', toDateTime('2026-10-02') + random % (${DAYS} * 86400),
  toString(number), number, 1, ['Ä & Söhne ', '\u{1f600} ', 'b '][1 + random % 3] || often, if(random % 5 = 0, '', often || '.example'),
  ['DE', 'FR', ''][1 + random % 3], '1.' || often, map('flavour', often, 'size', toString(random % 3))
FROM numbers(2000)`;

test("the first rows of lists, found by hash, are those of the lists that are read whole", async () => {
  await clickhouse.client.command({ query: EVENTS });
  for (const limit of [1, 2, 7, 30, 100])
    for (const before of [undefined, { startDate: "2026-10-02", endDate: "2026-10-12" }])
      for (const automated of ["include", "exclude"] as const) {
        const read = (rows: number) =>
          readStatistics(clickhouse.client, {
            packages: PACKAGES,
            libraryTypes: new Set(["other"]),
            pixels: [],
            filters: [],
            lists: STATISTICS_LISTS,
            range: { startDate: "2026-10-12", endDate: "2026-11-01" },
            before,
            interval: "day",
            automated,
            limit: rows,
            unsettled: { imports: [], fromVersion: "0", retracted: [], changed: false },
            signal: new AbortController().signal,
          });
        const [first, whole] = [await read(limit), await read(WHOLE)];
        expect(first.now.totals).toEqual(whole.now.totals);
        expect(first.before?.totals).toEqual(whole.before?.totals);
        for (const [name, rows] of whole.lists)
          expect(first.lists.get(name), name).toEqual(rows.slice(0, limit));
      }
});
