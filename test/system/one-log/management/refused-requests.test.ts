import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parametersOf } from "../../../../api/base/http/openapi/components.js";
import { type StartOptions, insertImport } from "../../../../api/features/imports/imports.js";
import { ACTIVE_IMPORTS_MAX } from "../../../../api/features/imports/start-imports.js";
import { insertPackage } from "../../../../api/features/packages/packages.js";
import { FILTER_COLUMNS } from "../../../../schemas/contracts/breakdowns.js";
import type { ProblemCode } from "../../../../schemas/problem.js";
import { PARAMETERS, type Place, makeMates, makePlace } from "../../../support/api/access-place.js";
import { REQUESTS, type TabledRequest, ownerAllowed } from "../../../support/api/access-requests.js";
import {
  type WholeApi,
  isSuccess,
  openWholeApi,
  pathOf,
  sendRequest,
} from "../../../support/api/whole-api.js";

let whole: WholeApi;

beforeAll(async () => {
  whole = await openWholeApi();
  await makeMates(whole.api);
});

afterAll(() => whole?.[Symbol.asyncDispose]());

/** The usual request of every route; each succeeds until it is changed. */
const USUAL = REQUESTS.filter(({ title }) => title === undefined);
const withCode = (code: ProblemCode) => USUAL.filter(({ route }) => route.operation.problems?.includes(code));
const named = (requests: readonly TabledRequest[]) => requests.map((each) => [each.name, each] as const);

function placeOf(request: TabledRequest): Promise<Place> {
  return makePlace(whole.api, { pg: whole.pg, ...ownerAllowed(request) });
}

async function outcomeOf(request: TabledRequest, headers: Record<string, string> = {}): Promise<string> {
  const place = await placeOf(request);
  return (await sendRequest(whole.api, request, { place, headers })).outcome;
}

/** Parameters that take an id or a name, which any text may be. */
const ARTIFACTS = new Set(["package", "pixel"]);

/** Filters of the statistics take any text. */
function mayBeNonsense({ route }: TabledRequest, parameter: string): boolean {
  if (ARTIFACTS.has(parameter)) return false;
  return route.action !== "stats.read" || !FILTER_COLUMNS.has(parameter);
}

/** A value that no parameter of that name can have. */
const NONSENSE: Record<string, string> = {
  packageType: "cobol",
  per_page: "0",
  after: "yesterday",
  action: "packages.fly",
  actor: "ada lovelace",
  dryRun: "perhaps",
  retract: "perhaps",
  startDate: "yesterday",
  endDate: "tomorrow",
  breakdown: "planet",
  stage: "fame",
  sort: "beauty",
  // Without braces that close; an empty one is every path.
  path: "/{version",
};

describe("nonsense in a query is refused", () => {
  const cases = USUAL.flatMap((request) =>
    Object.keys(request.route.operation.query ?? {})
      .filter((parameter) => mayBeNonsense(request, parameter))
      .map((parameter) => ({ parameter, request })),
  );

  test.each(cases.map((each) => [`${each.request.name} ${each.parameter}`, each] as const))(
    "%s",
    async (_, { parameter, request }) => {
      const query = (place: Place) => {
        const asked = new URLSearchParams(request.query?.(place));
        asked.set(parameter, NONSENSE[parameter] ?? "");
        return `?${asked.toString()}`;
      };
      const code = /Date$|_from$/.test(parameter) ? "invalid-date" : "invalid-query";
      expect(await outcomeOf({ ...request, query })).toBe(`400 ${code}`);
    },
  );
});

describe("an artifact that a query names and that is not there is not found", () => {
  const cases = USUAL.flatMap((request) =>
    Object.keys(request.route.operation.query ?? {})
      .filter((parameter) => ARTIFACTS.has(parameter))
      .map((parameter) => ({ parameter, request })),
  );

  test.each(cases.map((each) => [`${each.request.name} ${each.parameter}`, each] as const))(
    "%s",
    async (_, { parameter, request }) => {
      // The imports of a deleted package can still be listed by its id.
      const ids = request.route.action === "imports.read" ? [] : [randomUUID()];
      for (const value of ["no-such-thing", ...ids]) {
        const query = (place: Place) => `${request.query?.(place) ?? "?"}&${parameter}=${value}`;
        expect(await outcomeOf({ ...request, query })).toBe("404 not-found");
      }
    },
  );
});

test.each(named(USUAL))("a parameter that does not exist is refused: %s", async (_, request) => {
  const query = (place: Place) => `${request.query?.(place) ?? "?"}&colour=red`;
  expect(await outcomeOf({ ...request, query })).toBe("400 invalid-query");
});

describe("things that a path names and that are not there are not found", () => {
  const cases = USUAL.flatMap((request) =>
    parametersOf(String(request.route.path)).map((parameter) => ({ parameter, request })),
  );

  test.each(cases.map((each) => [`${each.request.name} ${each.parameter}`, each] as const))(
    "%s",
    async (_, { parameter, request }) => {
      const path = { ...request.path, [parameter]: () => randomUUID() };
      expect(await outcomeOf({ ...request, path })).toBe("404 not-found");
    },
  );
});

describe("a body", () => {
  const withBody = USUAL.filter(({ route }) => route.operation.body !== undefined);
  // A message of the Model Context Protocol is not our body: its SDK refuses one in the protocol's own words.
  const ofJson = withBody.filter(
    ({ route }) => route.operation.body?.types === undefined && route.path !== "/mcp",
  );
  const ofLines = withBody.filter(({ route }) => route.operation.body?.types !== undefined);

  test.each(named(ofJson))("with an unknown field is refused: %s", async (_, request) => {
    const body = (place: Place) => ({ ...(request.body?.(place) as object), colour: "red" });
    expect(await outcomeOf({ ...request, body })).toBe("422 invalid-body");
  });

  test.each(named(ofJson))("that is no JSON is refused: %s", async (_, request) => {
    expect(await outcomeOf({ ...request, body: () => "{" })).toBe("400 malformed-json");
  });

  test.each(named(ofLines))("that is not in its encoding is refused: %s", async (_, request) => {
    expect(await outcomeOf(request, { "content-encoding": "gzip" })).toBe("422 invalid-body");
  });
});

describe("a name that two packages have", () => {
  const narrowable = withCode("ambiguous-name").filter(({ route }) => route.operation.query?.["packageType"]);

  test.each(named(narrowable))("is refused until its type is said: %s", async (_, request) => {
    const place = await placeOf(request);
    const twin = { name: "tools", shortDescription: "", libraryType: "npm" } as const;
    await insertPackage(whole.pg, { ownerId: place.owner.id, package: twin });
    const isInPath = parametersOf(String(request.route.path)).includes("package");
    const asked = (place: Place) => `${request.query?.(place) ?? "?"}${isInPath ? "" : "&package=tools"}`;
    const byName = { ...request, path: { ...request.path, package: () => "tools" }, query: asked };
    const narrowed = { ...byName, query: (place: Place) => `${asked(place)}&packageType=file` };
    expect((await sendRequest(whole.api, byName, { place })).outcome).toBe("409 ambiguous-name");
    const { outcome } = await sendRequest(whole.api, narrowed, { place });
    expect([outcome, isSuccess(request, outcome)]).toEqual([outcome, true]);
  });
});

test.each(named(withCode("precondition-failed")))(
  "a thing that was changed in the meantime stays as it is: %s",
  async (_, request) => {
    expect(await outcomeOf(request, { "if-match": '"another"' })).toBe("412 precondition-failed");
  },
);

test.each(named(withCode("already-exists").filter(({ route }) => route.method === "POST")))(
  "a thing that is there cannot be made again: %s",
  async (_, request) => {
    const place = await placeOf(request);
    expect((await sendRequest(whole.api, request, { place })).outcome).toBe("201");
    expect((await sendRequest(whole.api, request, { place })).outcome).toBe("409 already-exists");
  },
);

describe("a start of an import", () => {
  const STARTS = named(withCode("too-many-active-imports"));

  function running({ owner, caller }: Place, options: StartOptions = {}) {
    const started = { ownerId: owner.id, accountId: caller.id, artifactKind: "any", artifactId: "" } as const;
    return insertImport(whole.pg, started, options);
  }

  test.each(STARTS)("is refused where too many run: %s", async (_, request) => {
    const place = await placeOf(request);
    await Promise.all(Array.from({ length: ACTIVE_IMPORTS_MAX }, () => running(place)));
    const { outcome } = await sendRequest(whole.api, request, { place });
    expect(outcome).toBe("422 too-many-active-imports");
  });

  test.each(STARTS)("is refused with a key of another: %s", async (_, request) => {
    const place = await placeOf(request);
    const key = { ownerId: place.owner.id, key: "nightly", path: "/v2/elsewhere/import" };
    await running(place, { idempotency: key });
    const headers = { "idempotency-key": "nightly" };
    const { outcome } = await sendRequest(whole.api, request, { place, headers });
    expect(outcome).toBe("422 idempotency-key-reused");
  });

  test.each(STARTS)("is refused while the first with its key is uploading: %s", async (_, request) => {
    const place = await placeOf(request);
    const pixel = await PARAMETERS["pixel"]?.(place);
    const again = { ...request, path: { pixel: () => pixel ?? "" } };
    const key = { ownerId: place.owner.id, key: "nightly", path: await pathOf(again, place) };
    await running(place, { idempotency: key });
    const headers = { "idempotency-key": "nightly" };
    const { outcome } = await sendRequest(whole.api, again, { place, headers });
    expect(outcome).toBe("409 import-in-progress");
  });
});

describe("a range", () => {
  const RANGES = [
    ["?startDate=2026-08-04&endDate=2026-08-04", "422 empty-range"],
    ["?startDate=2025-01-01&endDate=2026-08-04", "422 range-too-long"],
  ] as const;
  const cases = RANGES.flatMap(([query, refusal]) =>
    withCode("range-too-long").map(
      (request) => [`${request.name}${query}`, { request, query, refusal }] as const,
    ),
  );

  test.each(cases)("is refused: %s", async (_, { request, query, refusal }) => {
    expect(await outcomeOf({ ...request, query: () => query })).toBe(refusal);
  });
});
