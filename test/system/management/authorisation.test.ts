import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACTIONS, type Action } from "../../../api/access.js";
import { aggregateRoutes } from "../../../api/routes/aggregates.js";
import { importEndingRoutes } from "../../../api/routes/import-endings.js";
import { importRecordRoutes } from "../../../api/routes/import-records.js";
import { importRoutes } from "../../../api/routes/imports.js";
import { openEmbeddedLog } from "../../../deploy/embedded/event-log.js";
import { ActiveUploads } from "../../../ingest/import/active-uploads.js";
import { SCOPES } from "../../../schemas/api-token.js";
import type { EventLog } from "../../../schemas/event-log.js";
import { makeMates, makePlace, type Place } from "../../support/access-place.js";
import { expectedDecision, REQUESTS, urlOf, type TabledRequest } from "../../support/access-requests.js";
import { CALLERS, tabledDecision, tabledScope, type TabledCaller } from "../../support/access-table.js";
import { TOKEN_ROUTES } from "../../support/all-routes.js";
import {
  openTestPostgres,
  serveApi,
  type ServedApi,
  type TestPostgres,
} from "../../support/management-api.js";
import { openTestClickHouse, type TestClickHouse } from "../../support/open-clickhouse.js";

let dir: string;
let eventLog: EventLog;
let clickhouse: TestClickHouse;
let postgres: TestPostgres;
let api: ServedApi;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-authorisation-"));
  [eventLog, clickhouse, postgres] = await Promise.all([
    openEmbeddedLog({ dir }),
    openTestClickHouse(),
    openTestPostgres(),
  ]);
  const deps = { pg: postgres.pg, eventLog, clickhouse: clickhouse.client, active: new ActiveUploads() };
  const routes = [importRoutes, importEndingRoutes, importRecordRoutes, aggregateRoutes];
  api = await serveApi({ pg: postgres.pg, routes: routes.flatMap((each) => each(deps)) });
  await makeMates(api);
});

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
  await clickhouse?.[Symbol.asyncDispose]();
  await eventLog?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** How an answer reads as a decision, and whether the audit log has it, into which no refused request may come. */
interface Outcome {
  decision: string;
  recorded: boolean;
}

const REFUSALS: Record<string, string> = {
  "401 unauthenticated": "unauthenticated",
  "403 forbidden": "forbidden",
  "403 out-of-scope": "out of scope",
  "404 not-found": "hidden",
};

/** `tokenOf` answers the token to ask with; without one where that is empty. */
async function outcomeOf(
  request: TabledRequest,
  { ownerKind, caller }: Pick<TabledCaller, "ownerKind" | "caller">,
  tokenOf: (place: Place) => string | Promise<string> = (place) => place.caller.token,
): Promise<Outcome> {
  const { pg } = postgres;
  const place = await makePlace(api, { pg, ownerKind, caller });
  const token = await tokenOf(place);
  const body = request.body?.(place);
  const response = await fetch(api.url + (await urlOf(request, place)), {
    method: request.route.method,
    headers: token === "" ? {} : { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const decision = decisionOf(request, response.status, await response.text());
  const id = response.headers.get("x-request-id");
  const { rows } = await pg.query("select from audit_entries where request_id = $1", [id]);
  return { decision, recorded: rows.length > 0 };
}

function decisionOf({ route }: TabledRequest, status: number, text: string): string {
  if (status in route.operation.answers) return "allowed";
  const refusal = `${status} ${(JSON.parse(text) as { code: string }).code}`;
  return REFUSALS[refusal] ?? refusal;
}

/** The actions that the expectations were made of. */
const decided = new Set<Action>();

function expectedOutcome(request: TabledRequest, caller: TabledCaller): Outcome {
  const on = (action: Action) => {
    decided.add(action);
    return tabledDecision(action, caller);
  };
  return outcomeAs(request, expectedDecision(request, { ownerKind: caller.ownerKind, on }));
}

function outcomeAs({ route }: TabledRequest, decision: string): Outcome {
  return { decision, recorded: decision === "allowed" && route.method !== "GET" };
}

/** An owner who may make the request: of an organization or, where that is for users only, the user. */
function ownerAllowed(request: TabledRequest): TabledCaller {
  const owners = CALLERS.filter(({ caller }) => caller.standing === "owner" && caller.level === undefined);
  const owner = owners.findLast((each) => expectedOutcome(request, each).decision === "allowed");
  if (owner === undefined) throw new Error(`the table has no owner who may: ${request.name}`);
  return owner;
}

const NAMED_REQUESTS = REQUESTS.map((each) => [each.name, each] as const);
const CELLS = REQUESTS.length * (CALLERS.length + 1);
const TOKEN_CELLS = REQUESTS.length * SCOPES.length;

describe(`the ${CELLS} cells of every request with every caller, and nobody`, () => {
  let driven = 0;

  test.each(NAMED_REQUESTS)("%s", async (_, request) => {
    const seen = CALLERS.map(async (each) => [each.who, await outcomeOf(request, each)] as const);
    const organization = { ownerKind: "organization", caller: { standing: "owner" } } as const;
    const nobody = outcomeOf(request, organization, () => "").then((outcome) => ["nobody", outcome] as const);
    const expected = CALLERS.map((each) => [each.who, expectedOutcome(request, each)] as const);
    driven += seen.length + 1;
    expect(Object.fromEntries(await Promise.all([...seen, nobody]))).toEqual({
      ...Object.fromEntries(expected),
      nobody: { decision: "unauthenticated", recorded: false },
    });
  });

  test("have all been driven, for every route, and leave out no action that has a route", () => {
    expect(driven).toBe(CELLS);
    expect(new Set(REQUESTS.map(({ route }) => route))).toEqual(new Set(TOKEN_ROUTES));
    expect(Object.keys(ACTIONS).filter((action) => !decided.has(action as Action))).toEqual([
      "webhooks.manage",
    ]);
  });
});

describe(`the ${TOKEN_CELLS} cells of every request with an owner's token of every scope alone`, () => {
  let driven = 0;

  test.each(NAMED_REQUESTS)("%s", async (_, request) => {
    const owner = ownerAllowed(request);
    const seen = SCOPES.map(async (scope) => {
      const tokenOf = ({ caller }: Place) => api.limitedToken(caller.token, { scopes: [scope] });
      return [scope, await outcomeOf(request, owner, tokenOf)] as const;
    });
    const expected = SCOPES.map((scope) => {
      const decision = scope === tabledScope(request.route.action) ? "allowed" : "out of scope";
      return [scope, outcomeAs(request, decision)] as const;
    });
    driven += seen.length;
    expect(Object.fromEntries(await Promise.all(seen))).toEqual(Object.fromEntries(expected));
  });

  test("have all been driven", () => {
    expect(driven).toBe(TOKEN_CELLS);
  });
});
