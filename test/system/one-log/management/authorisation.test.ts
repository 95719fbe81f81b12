import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ACTIONS, type Action } from "../../../../api/resources.js";
import { SCOPES } from "../../../../schemas/contracts/api-token.js";
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
    expect(Object.keys(ACTIONS).filter((action) => !decided.has(action as Action))).toEqual([]);
  });
});

describe(`the ${TOKEN_CELLS} cells of every request with an owner's token of every scope alone`, () => {
  let driven = 0;

  test.each(NAMED_REQUESTS)("%s", async (_, request) => {
    const owner = ownerAllowed(request);
    const seen = SCOPES.map(async (scope) => {
      const tokenOf = ({ caller }: Place) => whole.api.limitedToken(caller.token, { scopes: [scope] });
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
