import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Action } from "../../../../api/resources.js";
import { SCOPES, type Scope } from "../../../../schemas/contracts/api-token.js";
import { makeMates, makePlace, type Place } from "../../../support/api/access-place.js";
import {
  expectedDecision,
  ownerAllowed,
  REQUESTS,
  type TabledRequest,
} from "../../../support/api/access-requests.js";
import {
  CALLERS,
  tabledDecision,
  tabledScope,
  type TabledCaller,
} from "../../../support/api/access-table.js";
import { TOKEN_ROUTES } from "../../../support/api/all-routes.js";
import { isSuccess, sendRequest } from "../../../support/api/send-request.js";
import { openWholeApi, type WholeApi } from "../../../support/api/whole-api.js";

let whole: WholeApi;

beforeAll(async () => {
  whole = await openWholeApi();
  await makeMates(whole.api);
});

afterAll(() => whole?.[Symbol.asyncDispose]());

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
  const { api, pg } = whole;
  const place = await makePlace(api, { pg, ownerKind, caller });
  const { outcome, requestId } = await sendRequest(api, request, { place, token: await tokenOf(place) });
  const { rows } = await pg.query("select from audit_entries where request_id = $1", [requestId]);
  const decision = isSuccess(request, outcome) ? "allowed" : (REFUSALS[outcome] ?? outcome);
  return { decision, recorded: rows.length > 0 };
}

/** What the table says of actions (`access.test.ts` holds every cell of it against the rules). */
function decisionOf(request: TabledRequest, caller: TabledCaller): string {
  const on = (action: Action) => tabledDecision(action, caller);
  return expectedDecision(request, { ownerKind: caller.ownerKind, on });
}

const outcomeAs = ({ route }: TabledRequest, decision: string): Outcome => ({
  decision,
  recorded: decision === "allowed" && route.method !== "GET",
});

/**
 * One caller who may and one who may not, another one for each request. Where a handler makes its decision of several
 * actions, the table cannot know how: every caller asks.
 */
function callersOf(request: TabledRequest, index: number): readonly TabledCaller[] {
  if (request.decide !== undefined) return CALLERS;
  const refused = CALLERS.filter((caller) => decisionOf(request, caller) !== "allowed");
  return [ownerAllowed(request), refused[index % refused.length] ?? []].flat();
}

const OWNER = { ownerKind: "organization", caller: { standing: "owner" } } as const;

/** A token of an owner who may, limited to a scope. */
function outcomeWithin(scope: Scope, request: TabledRequest): Promise<Outcome> {
  const tokenOf = ({ caller }: Place) => whole.api.limitedToken(caller.token, { scopes: [scope] });
  return outcomeOf(request, ownerAllowed(request), tokenOf);
}

const NAMED_REQUESTS = REQUESTS.map((each, index) => [each.name, each, index] as const);

describe("a route admits who may use it, and nobody else", () => {
  const decided = new Set<string>();

  test.each(NAMED_REQUESTS)("%s", async (_, request, index) => {
    const callers = callersOf(request, index);
    const seen = callers.map(async (each) => [each.who, await outcomeOf(request, each)] as const);
    const nobody = outcomeOf(request, OWNER, () => "").then((outcome) => ["nobody", outcome] as const);
    const expected = callers.map(
      (each) => [each.who, outcomeAs(request, decisionOf(request, each))] as const,
    );
    for (const [, { decision }] of expected) decided.add(decision);
    expect(Object.fromEntries(await Promise.all([...seen, nobody]))).toEqual({
      ...Object.fromEntries(expected),
      nobody: { decision: "unauthenticated", recorded: false },
    });
  });

  test("of every kind there was one, for every route", () => {
    expect([...decided].sort()).toEqual(["allowed", "forbidden", "hidden"]);
    expect(new Set(REQUESTS.map(({ route }) => route))).toEqual(new Set(TOKEN_ROUTES));
  });
});

describe("a limited token is for the routes of its scope alone", () => {
  test.each(NAMED_REQUESTS)("%s", async (_, request, index) => {
    const own = tabledScope(request.route.action);
    const others = SCOPES.filter((scope) => scope !== own);
    const other = others[index % others.length] as Scope;
    expect(await outcomeWithin(other, request)).toEqual(outcomeAs(request, "out of scope"));
    if (own !== undefined) expect(await outcomeWithin(own, request)).toEqual(outcomeAs(request, "allowed"));
  });
});
