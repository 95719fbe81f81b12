import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOwnApi } from "../../../../api/base/http/call-own-api.js";
import { openExportPermits } from "../../../../api/base/http/export-permits.js";
import { readJson } from "../../../../api/base/http/middleware/read-json.js";
import { type Route, route } from "../../../../api/base/http/route.js";
import { type Place, makeMates, makePlace } from "../../../support/api/access-place.js";
import { REQUESTS, ownerAllowed } from "../../../support/api/access-requests.js";
import type { TabledCaller } from "../../../support/api/access-table.js";
import { type WholeApi, openWholeApi, pathOf } from "../../../support/api/whole-api.js";

/** Together above the size up to which a list is sent without a permit. */
const PACKAGES = 256;
const LONG = "x".repeat(1_000);
const RANGE = "startDate=2026-08-04&endDate=2026-08-05";

const permits = openExportPermits();
let whole: WholeApi;

/** Calls the operation of the body's URL in this process, as pages and assistants do, and returns its length. */
const CALL_OWN: Route = route({
  method: "POST",
  path: "/v1/own-call",
  action: "assistants.ask",
  operation: { id: "callOwn", summary: "Call an operation", answers: { 200: { description: "Its length" } } },
  async handle({ ctx, account }) {
    const { url } = await readJson(ctx, (body) => body as { url: string });
    // CSV and events are no JSON; they were answered before they are parsed.
    const answer = await callOwnApi<unknown>(ctx, { account }, { url }).catch((error: unknown) => {
      if (!(error instanceof SyntaxError)) throw error;
    });
    ctx.type = "text";
    ctx.body = String(JSON.stringify(answer ?? null).length);
  },
});

beforeAll(async () => {
  whole = await openWholeApi({ exportPermits: permits, routes: [CALL_OWN] });
  await makeMates(whole.api);
});

afterAll(() => whole?.[Symbol.asyncDispose]());

async function makeLongPlace({ ownerKind, caller }: Placed): Promise<Place> {
  const place = await makePlace(whole.api, { pg: whole.pg, ownerKind, caller });
  const text = `
    insert into packages (id, owner_id, name, library_type, short_description, long_description)
    select gen_random_uuid(), $1, 'package-' || number, 'other', '', $2 from generate_series(1, $3::int) number`;
  await whole.pg.query(text, [place.owner.id, LONG, PACKAGES]);
  return place;
}

type Placed = Pick<TabledCaller, "ownerKind" | "caller">;
const BY_OWNER: Placed = { ownerKind: "organization", caller: { standing: "owner", level: undefined } };

const callOwn = ({ caller }: Place, url: string) =>
  whole.api.call(caller.token, "POST /v1/own-call", { url });

const exportOf = (accountId: string) => ({
  accountId,
  socket: { destroy: () => undefined, setTimeout: () => undefined },
  signal: new AbortController().signal,
});

describe("calls of the API in its own process", () => {
  test.each(REQUESTS.filter(({ route: { method } }) => method === "GET"))(
    "leave no export permit taken: $name",
    async (request) => {
      const place = await makeLongPlace(ownerAllowed(request));
      const { status } = await callOwn(place, await pathOf(request, place));
      expect(status).toBe(200);
      expect(permits.used()).toBe(0);
    },
  );

  test("read long lists while exports hold every permit, and leave all of them to exports", async () => {
    const four = await Promise.all(Array.from({ length: 4 }, () => makeLongPlace(BY_OWNER)));
    const twenty = Array.from({ length: 5 }, () => four).flat();
    const held = await Promise.all(twenty.map(({ caller }) => permits.take(exportOf(caller.id))));
    const fifty = [...twenty, ...twenty, ...twenty.slice(0, 10)];
    const lists = await Promise.all(fifty.map((place) => callOwn(place, "/v1/packages")));
    for (const { status, body } of lists) {
      expect(status).toBe(200);
      expect(Number(body)).toBeGreaterThan(PACKAGES * LONG.length);
    }
    for (const permit of held) permit[Symbol.dispose]();
    const exports = twenty.map(({ caller: { token }, owner: { name } }) =>
      whole.api.call(token, `GET /v1/organizations/${name}/aggregates?${RANGE}`),
    );
    for (const { status } of await Promise.all(exports)) expect(status).toBe(200);
    expect(permits.used()).toBe(0);
  });
});
