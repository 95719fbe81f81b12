import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACTIONS, type Action } from "../../../../api/base/access/resources.js";
import { SCOPES, type Scope } from "../../../../schemas/contracts/user.js";
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
import { isSuccess, sendRequest, openWholeApi, type WholeApi } from "../../../support/api/whole-api.js";

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

/** The only reads that are recorded. Statistics and companies are exports as CSV. */
const isExport = ({ route: { action }, furtherScope }: TabledRequest) =>
  furtherScope === "export" || action === "export.read" || action === "packages.export";

/** Messages of assistants are read by POST. */
const isRead = ({ route: { method, action } }: TabledRequest) =>
  method === "GET" || action === "assistants.ask";

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
  const decision = isSuccess(request, outcome) ? "allowed" : (REFUSALS[outcome] ?? outcome);
  const isRecorded = async () => {
    const text = "select from audit_entries where request_id = $1";
    return (await pg.query(text, [requestId])).rows.length > 0;
  };
  // An export does not wait for its entry.
  if (decision === "allowed" && isExport(request)) await expect.poll(isRecorded).toBe(true);
  return { decision, recorded: await isRecorded() };
}

const decidedActions = new Set<Action>();

/** The table's decision (`access.test.ts` compares every cell of it with the rules). */
function decisionOf(request: TabledRequest, caller: TabledCaller): string {
  const on = (action: Action) => {
    decidedActions.add(action);
    return tabledDecision(action, caller);
  };
  return expectedDecision(request, { ownerKind: caller.ownerKind, on });
}

const outcomeAs = (request: TabledRequest, decision: string): Outcome => ({
  decision,
  recorded: decision === "allowed" && (!isRead(request) || isExport(request)),
});

const ALL_ACTIONS = Object.keys(ACTIONS) as Action[];

/** How many actions the table allows a caller. */
const rightsOf = (caller: TabledCaller) =>
  ALL_ACTIONS.filter((action) => tabledDecision(action, caller) === "allowed").length;
/** From the caller with the fewest rights to the one with the most. */
const BY_RIGHTS = CALLERS.toSorted((one, other) => rightsOf(one) - rightsOf(other));

/**
 * The admitted caller with the fewest rights and the refused one with the most: a rule that is a little too strict or
 * too lax fails with one of them. A handler that combines several actions is asked for each combination of decisions.
 */
function callersOf(request: TabledRequest): readonly TabledCaller[] {
  if (request.decide !== undefined) return ofEachCombination(request);
  const isAllowed = (caller: TabledCaller) => decisionOf(request, caller) === "allowed";
  const admitted = BY_RIGHTS.find(isAllowed);
  const refused = BY_RIGHTS.findLast((caller) => !isAllowed(caller));
  if (admitted === undefined) throw new Error(`the table admits nobody: ${request.name}`);
  return [admitted, refused].flatMap((caller) => caller ?? []);
}

function ofEachCombination(request: TabledRequest): TabledCaller[] {
  const actions = new Set([request.route.action]);
  for (const caller of CALLERS) {
    const on = (action: Action) => {
      actions.add(action);
      return tabledDecision(action, caller);
    };
    expectedDecision(request, { ownerKind: caller.ownerKind, on });
  }
  const combinationOf = (caller: TabledCaller) =>
    [caller.ownerKind, ...[...actions].map((action) => tabledDecision(action, caller))].join();
  return [...new Map(CALLERS.map((caller) => [combinationOf(caller), caller])).values()];
}

const OWNER = { ownerKind: "organization", caller: { standing: "owner" } } as const;

/** A token of an owner who may, limited to these scopes. */
function outcomeWithin(scopes: Scope[], request: TabledRequest): Promise<Outcome> {
  const tokenOf = ({ caller }: Place) => whole.api.limitedToken(caller.token, { scopes });
  return outcomeOf(request, ownerAllowed(request), tokenOf);
}

const NAMED_REQUESTS = REQUESTS.map((each, index) => [each.name, each, index] as const);

describe("a route admits who may use it, and nobody else", () => {
  const decided = new Set<string>();

  test.each(NAMED_REQUESTS)("%s", async (_, request) => {
    const callers = callersOf(request);
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

  test("every route was asked by every kind of caller", () => {
    expect([...decided].sort()).toEqual(["allowed", "forbidden", "hidden"]);
    expect(new Set(REQUESTS.map(({ route }) => route))).toEqual(new Set(TOKEN_ROUTES));
    expect(ALL_ACTIONS.filter((action) => !decidedActions.has(action))).toEqual([]);
  });
});

describe("a limited token is for the routes of its scope alone", () => {
  test.each(NAMED_REQUESTS)("%s", async (_, request, index) => {
    const own = tabledScope(request.route.action);
    const others = SCOPES.filter((scope) => scope !== own);
    const other = others[index % others.length] as Scope;
    const further = [request.furtherScope ?? []].flat();
    if (own === "any") {
      expect(await outcomeWithin([other], request)).toEqual(outcomeAs(request, "allowed"));
      return;
    }
    expect(await outcomeWithin([other], request)).toEqual(outcomeAs(request, "out of scope"));
    if (own === undefined) return;
    expect(await outcomeWithin([own, ...further], request)).toEqual(outcomeAs(request, "allowed"));
    if (further.length > 0)
      expect(await outcomeWithin([own], request)).toEqual(outcomeAs(request, "out of scope"));
  });
});
