import { afterAll, beforeAll, expect, test } from "vitest";
import { webhookDeliveryRoutes } from "../../../../api/webhooks/delivery-routes.js";
import { webhookSecretRoutes } from "../../../../api/webhooks/secret-routes.js";
import { webhookRoutes } from "../../../../api/webhooks/webhook-routes.js";
import { openGuard, SEALER } from "../../../support/api/delivery-world.js";
import {
  openTestPostgres,
  serveApi,
  type ServedApi,
  type TestPostgres,
} from "../../../support/api/management-api.js";
import { idOf, makeWorld, setLevel, type Who, type World } from "../../../support/api/management-world.js";

let postgres: TestPostgres;
let api: ServedApi;
let world: World;
let list: string;
let one: string;

/** Nothing listens there. */
const URL_SENT = "http://127.0.0.1:1/";
const SENT = { url: URL_SENT, event_kinds: ["company-funnel-stage-changed"] };
const NO_DELIVERY = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";

beforeAll(async () => {
  postgres = await openTestPostgres();
  const { pg } = postgres;
  const deps = { pg, guard: openGuard(), sealer: SEALER };
  const routes = [...webhookRoutes(deps), ...webhookSecretRoutes(deps), ...webhookDeliveryRoutes(deps)];
  api = await serveApi({ pg, routes });
  world = await makeWorld(api, pg);
  list = `/v2/${world.organization}/webhooks`;
  one = `${list}/${idOf(await as("owner", `POST ${list}`, SENT))}`;
  const packages = `POST /v1/organizations/${world.organization}/packages`;
  const packageId = idOf(await as("owner", packages, { name: "closed", shortDescription: "" }));
  for (const who of ["owner", "admin"] as const)
    await setLevel(pg, { packageId, username: world.names[who], level: "blocked" });
});

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const as = (who: Who, request: string, body?: unknown) => api.call(world.tokens[who], request, body);

/** Every operation on webhooks; the last deletes the webhook. */
const operations = (): [string, unknown?][] => [
  [`GET ${list}`],
  [`POST ${list}`, SENT],
  [`GET ${one}`],
  [`PUT ${one}`, { enabled: true }],
  [`POST ${one}/test`],
  [`GET ${one}/deliveries`],
  [`POST ${one}/deliveries/${NO_DELIVERY}/redeliver`],
  [`POST ${one}/rotate-secret`],
  [`DELETE ${one}/old-secret`],
  [`DELETE ${one}`],
];

async function statusesFor(who: Who): Promise<number[]> {
  const statuses: number[] = [];
  for (const [request, body] of operations()) statuses.push((await as(who, request, body)).status);
  return statuses;
}

test("an admin who is blocked from a package may do nothing with webhooks, and an owner everything", async () => {
  expect(await statusesFor("admin")).toEqual(operations().map(() => 403));
  expect(await as("admin", `GET ${list}`)).toMatchObject({
    body: { code: "forbidden", message: expect.stringContaining("blocked from a package of") as string },
  });
  expect(await statusesFor("owner")).toEqual([200, 201, 200, 200, 200, 200, 404, 200, 204, 204]);
});
