import type { Pool } from "pg";
import { schemeOf } from "../../../aggregate/statistics/group-version.js";
import { readAdoption } from "../../../aggregate/statistics/read-adoption.js";
import type { ClickHouse } from "../../../schemas/shards.js";
import type { RunLimited } from "../../base/http/limit-work.js";
import { type Route, route } from "../../base/http/route.js";
import { answerCsv } from "./answer-list.js";
import { prepareStatistics } from "./prepare-statistics.js";
import { READ_ADOPTION } from "./adoption-operation.js";
import { adoptionAnswer, adoptionAsCsv } from "./adoption-answer.js";
import { readEndsOfLife } from "./ends-of-life.js";

/** `/v2/{owner}/stats/adoption`, which has to be registered before the lists. */
export function adoptionRoute(
  { pg, clickhouse }: { pg: Pool; clickhouse: ClickHouse },
  runLimited: RunLimited,
): Route {
  return route({
    method: "GET",
    path: "/v2/:owner/stats/adoption",
    action: "stats.read",
    operation: READ_ADOPTION,
    async handle(call) {
      const { ctx, recordExports } = call;
      const prepared = await prepareStatistics(pg, runLimited, call, () => true);
      const { asked, scope, exported, readOnce } = prepared;
      const { range, interval, versions } = asked;
      const [id = ""] = scope.packages;
      const endsOfLife = { versions: await readEndsOfLife(pg, id), scheme: schemeOf(scope.libraryTypes) };
      const adoption = await readOnce(["adoption", endsOfLife], async ({ query, ...known }) => {
        const read = await readAdoption(clickhouse, { ...query, packages: [id], interval, versions });
        return adoptionAnswer({ range, interval, ...known, read, endsOfLife });
      });
      if (exported === undefined) return void (ctx.body = adoption);
      answerCsv(ctx, adoptionAsCsv(adoption));
      recordExports(exported);
    },
  });
}
