import {
  FUNNEL,
  FUNNEL_RUN,
  type FunnelRecord,
  type StageCounts,
} from "../../../schemas/contracts/funnel.js";
import {
  DAY_MS,
  type DateRange,
  RANGE_DAYS_MAX,
  addDays,
  dateAt,
  parseOptionalDateRange,
} from "../../../schemas/date-range.js";
import { STAGES } from "../../../schemas/records/funnel.js";
import { wholeOwnerFor } from "../../base/access/authorise.js";
import { type Route, route } from "../../base/http/route.js";
import { countStages, readAsOf } from "./funnel-companies.js";
import type { Postgres } from "../../base/postgres/query.js";
import { RANGE_QUERY } from "../../base/http/answers/range-query.js";
import { NOT_FOR_THE_BLOCKED } from "./company-routes.js";
import type { Shards } from "../../../schemas/shards.js";
import type { Pool } from "pg";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { runFunnel } from "../../../aggregate/funnel/run-funnel.js";
import { requireFew } from "../../base/identity/failure-limits.js";
import { onConnection } from "../../base/postgres/connection.js";
import { readRunTime } from "./funnel-owners.js";
import { pastStore } from "./funnel-pasts.js";
import { funnelStore } from "./funnel-runs.js";

const DAYS_DEFAULT = 30;

export function funnelRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/:owner/funnel",
      action: "funnel.read",
      operation: {
        id: "readFunnel",
        tag: "Companies",
        summary: "Count companies by stage",
        description:
          "Returns the current counts, and the counts at the end of each day of the range (default: the " +
          `last ${DAYS_DEFAULT} days). Today's counts may still change. Days before a company's first ` +
          "announced stage change are computed from events; later days use the announced stages. " +
          NOT_FOR_THE_BLOCKED,
        query: RANGE_QUERY,
        answers: { 200: { description: "The counts", schema: FUNNEL, example: EXAMPLE } },
        problems: ["forbidden", "invalid-date", "empty-range", "range-too-long"],
      },
      async handle({ ctx, account, action, query: asked, param }) {
        const now = new Date();
        const range = parseOptionalDateRange(asked, {
          daysMax: RANGE_DAYS_MAX,
          daysDefault: DAYS_DEFAULT,
          now,
        });
        const { id } = await wholeOwnerFor(pg, account, param("owner"), action);
        ctx.body = await readFunnel(pg, { ownerId: id, range, now });
      },
    }),
  ];
}

const COUNTS = { interest: 120, investigation: 31, experimentation: 12, "ongoing-usage": 8, inactive: 40 };
const EXAMPLE: FunnelRecord = {
  as_of: "2026-08-04T14:00:00.021000Z",
  stages: COUNTS,
  days: [{ date: "2026-08-04", stages: COUNTS }],
};

async function readFunnel(
  pg: Postgres,
  { ownerId, range, now }: { ownerId: string; range: DateRange; now: Date },
): Promise<FunnelRecord> {
  const asOf = await readAsOf(pg, ownerId);
  const counted = await countStages(pg, { ownerId, ...range });
  const countsOf = (date: string, from: typeof counted): StageCounts => ({
    ...NO_COMPANIES,
    ...Object.fromEntries(
      from.filter((each) => each.date === date).map(({ stage, companies }) => [stage, companies]),
    ),
  });
  const today = dateAt(now.getTime());
  const current = await countStages(pg, { ownerId, startDate: today, endDate: addDays(today, 1) });
  return {
    ...(asOf !== undefined && { as_of: asOf }),
    stages: countsOf(today, current),
    days: datesOf(range)
      .filter((date) => date <= today)
      .map((date) => ({ date, stages: countsOf(date, counted) })),
  };
}

const NO_COMPANIES = Object.fromEntries(STAGES.map((stage) => [stage, 0])) as StageCounts;

function datesOf({ startDate, endDate }: DateRange): string[] {
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS;
  return Array.from({ length: days }, (_, day) => addDays(startDate, day));
}

interface FunnelRunRoutesDeps {
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
        summary: "Update company stages now",
        description:
          "Works like the scheduled run: stage changes are stored and sent to webhooks. Nothing is computed " +
          `while imports are running. At most ${RUNS_MAX} runs a minute. ${NOT_FOR_THE_BLOCKED}`,
        answers: {
          200: {
            description: "Result of the run",
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
        await requireFew(
          runs,
          ownerId,
          `The stages of ${name} were updated too often in the last minute. Try again later.`,
        );
        const target = { kind, id: ownerId, name };
        await record(pg, { ownerId, target, changes: { run: true }, isRepeatable: true });
        const asOf = await readRunTime(pg);
        const { signal } = new AbortController();
        const { companies, changes, importing } = await onConnection(pg, (client) =>
          runFunnel(shards, {
            store: funnelStore(client, { ownerId }),
            pasts: pastStore(client, { ownerId }),
            asOf,
            signal,
          }),
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
