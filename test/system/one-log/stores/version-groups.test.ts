import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  groupSql,
  groupVersion,
  type VersionScheme,
} from "../../../../aggregate/statistics/group-version.js";
import { VERSION_GROUPINGS } from "../../../../schemas/contracts/statistics.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";
import { AWKWARD_VERSIONS } from "../../../support/statistics/awkward-versions.js";

let clickhouse: TestClickHouse;
beforeAll(async () => void (clickhouse = await openTestClickHouse()));
afterAll(() => clickhouse?.[Symbol.asyncDispose]());

const VERSIONS = Object.values(AWKWARD_VERSIONS).flatMap((rows) => rows.flat());

describe.each(Object.keys(AWKWARD_VERSIONS) as VersionScheme[])("versions as of %s", (scheme) => {
  test.each(VERSION_GROUPINGS)("are grouped the same by ClickHouse as by the program, by %s", async (by) => {
    const answer = await clickhouse.client.query({
      query: `SELECT ${groupSql("toLowCardinality(version)", { scheme, by })} AS grouped
FROM (SELECT arrayJoin({versions:Array(String)}) AS version)`,
      query_params: { versions: VERSIONS },
      format: "JSONEachRow",
    });
    const groups = (await answer.json<{ grouped: string }>()).map(({ grouped }) => grouped);
    expect(groups).toEqual(VERSIONS.map((version) => groupVersion(version, { scheme, by })));
  });
});
