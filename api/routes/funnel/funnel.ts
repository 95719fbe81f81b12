import type { Pool } from "pg";
import { FUNNEL, type FunnelRecord, type StageCounts } from "../../../schemas/contracts/company.js";
import { dateAt, DAY_MS, parseOptionalDateRange, type DateRange } from "../../../schemas/date-range.js";
import {
  FUNNEL_IMPORTANCE,
  parseFunnelImportance,
  type ArtifactImportance,
  type FunnelImportance,
} from "../../../schemas/contracts/funnel-importance.js";
import { STAGES } from "../../../schemas/records/funnel.js";
import { invalidBody } from "../../../schemas/validate.js";
import { access } from "../../access.js";
import type { PackageAction } from "../../resources.js";
import { ownerFor, wholeOwnerFor, type Owner } from "../../authorise/authorise.js";
import { entityTag, requireMatch } from "../../answers/entity-tag.js";
import { readJson } from "../../middleware/read-json.js";
import { route, type ApiContext, type Call, type Route } from "../../route.js";
import type { Account } from "../../stores/accounts/accounts.js";
import { inTransaction } from "../../stores/connection.js";
import { countStages, readAsOf } from "../../stores/funnel/funnel-companies.js";
import { listImportance, updateImportance } from "../../stores/funnel/funnel-importance.js";
import { lockOwner } from "../../stores/accounts/organizations.js";
import { listPackagesOfOwner } from "../../stores/packages/packages.js";
import type { Postgres } from "../../stores/query.js";
import { NOT_FOR_THE_BLOCKED, RANGE_QUERY } from "./companies.js";

const DAYS_MAX = 366;
const DAYS_DEFAULT = 30;
const IMPORTANCE_PATH = "/v2/:owner/funnel/importance";

export function funnelRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/:owner/funnel",
      action: "funnel.read",
      operation: {
        id: "readFunnel",
        tag: "Companies",
        summary: "Count the companies at each stage",
        description:
          `Now, and at the end of each day of the range or of the last ${DAYS_DEFAULT} days, up to today, which may ` +
          "still change: from the stored changes of stage, so that past days stay as they were announced. " +
          NOT_FOR_THE_BLOCKED,
        query: RANGE_QUERY,
        answers: { 200: { description: "The counts", schema: FUNNEL, example: EXAMPLE } },
        problems: ["forbidden", "invalid-date", "empty-range", "range-too-long"],
      },
      async handle({ ctx, account, action, param }) {
        const now = new Date();
        const range = parseOptionalDateRange(ctx.query, {
          daysMax: DAYS_MAX,
          daysDefault: DAYS_DEFAULT,
          now,
        });
        const { id } = await wholeOwnerFor(pg, account, param("owner"), action);
        ctx.body = await readFunnel(pg, { ownerId: id, range, now });
      },
    }),
    route({
      method: "GET",
      path: IMPORTANCE_PATH,
      action: "packages.list",
      operation: {
        id: "readFunnelImportance",
        tag: "Companies",
        summary: "Read how much each package and pixel matters in the funnel",
        answers: { 200: IMPORTANCE_ANSWER },
      },
      async handle({ ctx, account, action, param }) {
        const owner = await ownerFor(pg, account, param("owner"), action);
        answer(ctx, await importanceFor(pg, { account, owner, action: "packages.read" }));
      },
    }),
    route({
      method: "PUT",
      path: IMPORTANCE_PATH,
      action: "funnel.manage",
      operation: {
        id: "updateFunnelImportance",
        summary: "Say how much each package and pixel matters in the funnel",
        description:
          "A download is worth 2, 5 or 8 points and a view 0.25, 0.5 or 1, for low, medium and high importance. " +
          "Unnamed ones become `medium`; packages that the caller may not change stay as they are. The next run of the " +
          "funnel applies it to past activity as well.",
        body: { schema: FUNNEL_IMPORTANCE, example: IMPORTANCE_EXAMPLE },
        answers: { 200: IMPORTANCE_ANSWER },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        answer(call.ctx, await changeImportance(pg, call));
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

const IMPORTANCE_EXAMPLE: FunnelImportance = {
  packages: [{ id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27", importance: "high" }],
  pixels: [{ id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4", importance: "low" }],
};

const IMPORTANCE_ANSWER = {
  description: "Every package and pixel that the caller can see, in the order in which they were made",
  schema: FUNNEL_IMPORTANCE,
  example: IMPORTANCE_EXAMPLE,
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
  const today = dayAfter(now.toISOString(), 0);
  const current = await countStages(pg, { ownerId, startDate: today, endDate: dayAfter(today, 1) });
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
  return Array.from({ length: days }, (_, day) => dayAfter(startDate, day));
}

function dayAfter(date: string, days: number): string {
  return dateAt(Date.parse(date) + days * DAY_MS);
}

/** The importance of all pixels, and of the packages on which the caller may do `action`. */
async function importanceFor(
  pg: Postgres,
  { account, owner, action }: { account: Account; owner: Owner; action: PackageAction },
): Promise<FunnelImportance> {
  const rows = await listPackagesOfOwner(pg, { ownerId: owner.id, accountId: account.id });
  const seen = new Set(rows.filter((row) => access(row, action, row) === "allowed").map(({ id }) => id));
  const packages = await listImportance(pg, { ownerId: owner.id, of: "packages" });
  const pixels = await listImportance(pg, { ownerId: owner.id, of: "pixels" });
  return { packages: packages.filter(({ id }) => seen.has(id)), pixels };
}

async function changeImportance(
  pg: Pool,
  { ctx, account, action, param, record }: Call<"funnel.manage">,
): Promise<FunnelImportance> {
  const wanted = await readJson(ctx, parseFunnelImportance);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await ownerFor(client, account, param("owner"), action);
    const read = (action: PackageAction) => importanceFor(client, { account, owner, action });
    requireMatch(ctx, entityTag(await read("packages.read")));
    const changeable = await read("packages.update");
    requireKnown(wanted, changeable, owner);
    const packages = changed(changeable.packages, wanted.packages);
    const pixels = changed(changeable.pixels, wanted.pixels);
    await updateImportance(client, { of: "packages", changed: packages });
    await updateImportance(client, { of: "pixels", changed: pixels });
    const target = { kind: owner.kind, id: owner.id, name: owner.name };
    await record(client, { ownerId: owner.id, target, changes: { packages, pixels } });
    return read("packages.read");
  });
}

function requireKnown(wanted: FunnelImportance, known: FunnelImportance, { name }: Owner): void {
  const faults = (["packages", "pixels"] as const).flatMap((of) => {
    const ids = new Set(known[of].map(({ id }) => id));
    const message = `is none of the ${of} of ${name} that you may change`;
    return wanted[of].flatMap(({ id }, index) =>
      ids.has(id) ? [] : [{ path: `/${of}/${index}/id`, message }],
    );
  });
  if (faults.length > 0) throw invalidBody(faults);
}

/** The entries whose importance changes. */
function changed(
  known: readonly ArtifactImportance[],
  wanted: readonly ArtifactImportance[],
): ArtifactImportance[] {
  const named = new Map(wanted.map(({ id, importance }) => [id, importance]));
  return known
    .map(({ id, importance }) => ({
      id,
      before: importance,
      importance: named.get(id) ?? ("medium" as const),
    }))
    .filter(({ before, importance }) => before !== importance)
    .map(({ id, importance }) => ({ id, importance }));
}

function answer(ctx: ApiContext, importance: FunnelImportance): void {
  ctx.set("ETag", entityTag(importance));
  ctx.body = importance;
}
