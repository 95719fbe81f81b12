import type { Shards } from "../../schemas/shards.js";
import type { Pool } from "pg";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { runFunnel } from "../../aggregate/funnel/run-funnel.js";
import { FUNNEL_RUN } from "../../schemas/contracts/company.js";
import { requireFew } from "../http/answers/require-few.js";
import { wholeOwnerFor } from "../access/authorise.js";
import { route, type Route } from "../http/route.js";
import { onConnection } from "../postgres/connection.js";
import { funnelStore, readRunTime } from "./funnel-runs.js";
import { NOT_FOR_THE_BLOCKED } from "./company-routes.js";

export interface FunnelRunRoutesDeps {
  pg: Pool;
  shards: Shards;
}

/** The limit of one owner in a minute. Each process counts for itself. */
const RUNS_MAX = 6;

export function funnelRunRoutes({ pg, shards }: FunnelRunRoutesDeps): Route[] {
  const runs = new RateLimiterMemory({ points: RUNS_MAX, duration: 60 });
  return [
    route({
      method: "POST",
      path: "/v2/:owner/funnel/run",
      action: "funnel.manage",
      operation: {
        id: "runFunnel",
        summary: "Compute the stages of companies now",
        description:
          "As the schedule does: changes of stage are stored and announced. While imports are running, nothing is " +
          `computed. At most ${RUNS_MAX} times a minute. ${NOT_FOR_THE_BLOCKED}`,
        answers: {
          200: {
            description: "What was computed",
            schema: FUNNEL_RUN,
            example: {
              as_of: "2026-08-04T14:00:00.021000Z",
              companies: 171,
              changes: 3,
              waits_for_imports: false,
            },
          },
        },
      },
      async handle({ ctx, account, action, param, record }) {
        const { id: ownerId, kind, name } = await wholeOwnerFor(pg, account, param("owner"), action);
        await requireFew(runs, ownerId, `The stages of ${name} were computed too often in the last minute.`);
        await record(pg, { ownerId, target: { kind, id: ownerId, name }, changes: { run: true } });
        const asOf = await readRunTime(pg);
        const { signal } = new AbortController();
        const { companies, changes, importing } = await onConnection(pg, (client) =>
          runFunnel(shards, { store: funnelStore(client, { ownerId }), asOf, signal }),
        );
        ctx.body = {
          as_of: asOf.toISOString().replace("Z", "000Z"),
          companies,
          changes,
          waits_for_imports: importing > 0,
        };
      },
    }),
  ];
}
