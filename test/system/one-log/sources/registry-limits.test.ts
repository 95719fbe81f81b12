import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import { LOOKS_MAX } from "../../../../api/features/sources/change-source.js";
import type { RegistryAccess } from "../../../../api/features/sources/read-registry.js";
import { createRegistryAccess } from "../../../../api/features/sources/registry-access.js";
import { takeRegistryTurn } from "../../../../api/features/sources/registry-turns.js";
import { sourceRoutes } from "../../../../api/features/sources/source-routes.js";
import { runKind } from "../../../../api/features/sources/start-sources.js";
import { SOURCE_KINDS, type SourceKind, type SourceRecord } from "../../../../schemas/contracts/source.js";
import type { Answer } from "../../../support/api/management-api.js";
import { putAccount, putOwner } from "../../../support/notifications/put-notifications.js";
import { as, makePackage, postgres, refused, useWorld, world } from "../../../support/api/use-world.js";

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

interface Registry extends AsyncDisposable {
  url: string;
  asked: string[];
  reply: Reply;
}

const NOTHING: Reply = (_, response) => void response.end('{"downloads":[]}');
const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    void response.writeHead(code, headers).end("[]");

async function openRegistry(): Promise<Registry> {
  const registry: Registry = {
    url: "",
    asked: [],
    reply: NOTHING,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  const server: Server = createServer((request, response) => {
    registry.asked.push(request.url ?? "");
    registry.reply(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  registry.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return registry;
}

let registry: Registry;
let access: RegistryAccess;

beforeAll(async () => {
  registry = await openRegistry();
  access = createRegistryAccess({
    urls: Object.fromEntries(SOURCE_KINDS.map((kind) => [kind, registry.url])),
  });
});
afterAll(() => registry?.[Symbol.asyncDispose]());

beforeEach(async () => {
  await postgres.pg.query("delete from sources");
  await postgres.pg.query("delete from registries");
  registry.asked = [];
  registry.reply = NOTHING;
  access.pauseMs = 0;
});

useWorld(({ pg }) => ({
  routes: sourceRoutes({
    pg,
    quotas: { ...DEFAULT_QUOTAS, sources: 3 },
    get access() {
      return access;
    },
  }),
}));

const path = () => `/v2/${world.organization}/sources`;
const create = (name: string, kind: SourceKind = "npm", more: object = {}) =>
  as("admin", `POST ${path()}`, { kind, name, ...more });
/** By another account, for itself. */
const createElsewhere = (name: string, kind: SourceKind = "npm") =>
  as("stranger", `POST /v2/${world.names.stranger}/sources`, { kind, name });

function recordOf(answer: Answer): SourceRecord {
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as SourceRecord;
}

const run = (kind: SourceKind) =>
  runKind(
    {
      pg: postgres.pg,
      access,
      nextTime: () => new Date(Date.now() + 86_400_000),
      onFailure(error) {
        throw error;
      },
    },
    kind,
    new AbortController().signal,
  );

async function read({ id, owner }: SourceRecord): Promise<SourceRecord> {
  const by = owner === world.organization ? "admin" : "stranger";
  return (await as(by, `GET /v2/${owner}/sources/${id}`)).body as SourceRecord;
}

describe("no registry is asked for a source that cannot be created", () => {
  test.each<[string, object, number, string]>([
    ["of a package that is not there", { name: "web", package: "nothing" }, 422, "invalid-body"],
    ["whose name cannot be one", { name: "../x" }, 422, "invalid-body"],
    ["that is there already", { name: "taken" }, 409, "already-exists"],
  ])("%s", async (_, sent, code, problem) => {
    recordOf(await create("taken"));
    registry.asked = [];
    expect(await as("admin", `POST ${path()}`, { kind: "npm", ...sent })).toMatchObject(
      refused(code, problem),
    );
    expect(registry.asked).toEqual([]);
  });

  test("above the quota", async () => {
    for (const name of ["one", "two", "three"]) recordOf(await create(name));
    registry.asked = [];
    expect(await create("four")).toMatchObject(refused(422, "too-many-sources"));
    expect(registry.asked).toEqual([]);
  });

  test("by somebody who may not", async () => {
    const sent = { kind: "npm", name: "web" };
    expect(await as("member", `POST ${path()}`, sent)).toMatchObject(refused(403, "forbidden"));
    expect(await as("stranger", `POST ${path()}`, sent)).toMatchObject(refused(404, "not-found"));
    expect(registry.asked).toEqual([]);
  });

  test("nor renamed", async () => {
    const { id } = recordOf(await create("one"));
    recordOf(await create("two"));
    registry.asked = [];
    const rename = (sent: object) => as("admin", `PUT ${path()}/${id}`, sent);
    expect(await rename({ name: "two" })).toMatchObject(refused(409, "already-exists"));
    expect(await rename({ name: "four", package: "nothing" })).toMatchObject(refused(422, "invalid-body"));
    expect(registry.asked).toEqual([]);
    await makePackage({ name: "web", libraryType: "npm" });
    expect(await rename({ name: "four", package: "web" })).toMatchObject({ status: 200 });
    expect(registry.asked).toHaveLength(1);
  });
});

test("a look reads the status of an answer alone, however large it is", async () => {
  let closed = false;
  registry.reply = (_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(64 * 1024, " ")));
    };
    response.on("drain", more).on("close", () => (closed = true));
    response.writeHead(200);
    more();
  };
  recordOf(await create("web"));
  await expect.poll(() => closed).toBe(true);
});

test("an account has so many looks a minute at one registry, whatever others do", async () => {
  const remove = () => postgres.pg.query("delete from sources");
  for (let nth = 0; nth < LOOKS_MAX; nth += 1) {
    recordOf(await create(`p${nth}`));
    await remove();
  }
  const refusal = await create("more");
  expect(refusal).toMatchObject(refused(429, "rate-limited"));
  expect(Number(refusal.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect(registry.asked).toHaveLength(LOOKS_MAX);
  recordOf(await create("more", "crates"));
  recordOf(await createElsewhere("more"));
});

describe("turns at a registry", () => {
  test("are as far apart as wanted, whoever takes them", async () => {
    const { pg } = postgres;
    const turn = (waitMsMax: number) =>
      takeRegistryTurn(pg, { kind: "crates", intervalMs: 1_000, waitMsMax });
    const before = (await pg.query<{ now: Date }>("select clock_timestamp() as now")).rows[0]?.now;
    const waits = await Promise.all(Array.from({ length: 10 }, () => turn(60_000)));
    expect(waits).not.toContain(undefined);
    const text = "select next_turn_at >= $1::timestamptz + interval '10 seconds' as apart from registries";
    expect((await pg.query(text, [before])).rows).toEqual([{ apart: true }]);
    expect(await turn(500)).toBeUndefined();
  });

  test("are taken by routes and by the job, and who gets none asks nothing", async () => {
    access.pauseMs = 3_600_000;
    recordOf(await create("web"));
    expect(registry.asked).toHaveLength(1);
    const other = recordOf(await createElsewhere("tool"));
    await run("npm");
    expect(registry.asked).toHaveLength(1);
    expect((await read(other)).last_error).toBe("Too many requests to npm are waiting. Try again later.");
  });

  test("go from account to account, whatever one of them and its organizations have due", async () => {
    const { pg } = postgres;
    const account = await putAccount(pg);
    const due = `
      insert into sources (id, owner_id, kind, name, next_run_at)
      select gen_random_uuid(), $1, 'npm', $2 || nth, now() - interval '1 hour' from generate_series(1, $3::int) nth`;
    for (let nth = 0; nth < 5; nth += 1) await pg.query(due, [await putOwner(pg, account), `many${nth}`, 10]);
    await pg.query(due, [account, "many", 10]);
    const [one, other] = [await putOwner(pg), await putOwner(pg)];
    await pg.query(due, [one, "one", 1]);
    await pg.query(due, [other, "other", 1]);
    await pg.query("update sources set next_run_at = now() where owner_id = any ($1)", [[one, other]]);
    await run("npm");
    expect(registry.asked).toHaveLength(62);
    expect(registry.asked.slice(0, 3).filter((asked) => /\/(?:one|other)1$/.test(asked))).toHaveLength(2);
  });
});

describe("a registry that wants fewer requests is left alone by everybody", () => {
  const inAnHour = () => String(Math.ceil(Date.now() / 1000) + 3_600);
  const WAYS: [string, () => Reply, number][] = [
    ["429", () => status(429), 30],
    ["429 with Retry-After", () => status(429, { "Retry-After": "3600" }), 3_500],
    [
      "429 with a date",
      () => status(429, { "Retry-After": new Date(Date.now() + 3.6e6).toUTCString() }),
      3_500,
    ],
    ["429 for years", () => status(429, { "Retry-After": "999999999" }), 86_000],
    ["403", () => status(403), 30],
    ["403 with Retry-After", () => status(403, { "Retry-After": "3600" }), 3_500],
    [
      "403 and GitHub's reset",
      () => status(403, { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": inAnHour() }),
      3_500,
    ],
    [
      "an answer that is the last for an hour",
      () => status(200, { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": inAnHour() }),
      3_500,
    ],
    ["503 with Retry-After", () => status(503, { "Retry-After": "3600" }), 3_500],
  ];
  const SENTENCE = /^npm (?:is limiting requests(?: \(4\d\d\))?|returned status 503)\.$/;

  async function expectPause(sources: readonly SourceRecord[], seconds: number): Promise<void> {
    const asked = registry.asked.length;
    registry.reply = NOTHING;
    const later = recordOf(await createElsewhere("later"));
    await run("npm");
    expect(registry.asked).toHaveLength(asked);
    for (const source of [...sources, later]) {
      const { last_error, next_run_at = "" } = await read(source);
      expect(last_error).toMatch(SENTENCE);
      expect(Date.parse(next_run_at)).toBeGreaterThan(Date.now() + seconds * 1_000);
    }
    const refusal = await as("stranger", `POST /v2/${world.names.stranger}/sources/${later.id}/run`);
    expect(refusal).toMatchObject(refused(503, "unavailable"));
    expect(Number(refusal.headers.get("Retry-After"))).toBeGreaterThan(seconds);
    // Others are asked.
    recordOf(await create("web", "crates"));
    expect(registry.asked).toHaveLength(asked + 1);
    await postgres.pg.query("update registries set paused_until = now()");
    await run("npm");
    expect((await read(later)).last_success_at).toBeDefined();
  }

  test.each(WAYS)("after a look: %s", async (_, reply, seconds) => {
    registry.reply = reply();
    await expectPause([recordOf(await create("web"))], seconds);
  });

  test.each(WAYS)("after a run: %s", async (_, reply, seconds) => {
    const sources = [recordOf(await create("web")), recordOf(await create("tool"))];
    registry.reply = reply();
    const asked = registry.asked.length;
    await run("npm");
    expect(registry.asked).toHaveLength(asked + 1);
    // One of them was answered, perhaps with what it asked for.
    const texts = await Promise.all(sources.map(async (each) => (await read(each)).last_error ?? ""));
    expect(texts.some((text) => SENTENCE.test(text))).toBe(true);
    await expectPause([], seconds);
  });

  test("but not after a 403 that is about one thing", async () => {
    registry.reply = status(403, { "X-RateLimit-Remaining": "57" });
    const blocked = recordOf(await create("acme/blocked", "github-releases"));
    await run("github-releases");
    expect((await read(blocked)).last_error).toBe("github-releases returned status 403.");
    registry.reply = (_, response) => void response.end("[]");
    const other = recordOf(await createElsewhere("acme/tool", "github-releases"));
    await run("github-releases");
    expect((await read(other)).last_success_at).toBeDefined();
  });

  test("also where that is said to a request whose answer may be missing", async () => {
    access.githubToken = "of-github";
    const source = recordOf(await create("acme/tool", "github-releases"));
    registry.reply = (request, response) =>
      (request.url?.includes("/traffic/views") ? status(429) : status(200))(request, response);
    registry.asked = [];
    await run("github-releases");
    expect(registry.asked.map((asked) => asked.split("/").at(-1))).toEqual([
      "releases?per_page=100&page=1",
      "views",
    ]);
    expect((await read(source)).last_error).toBe("github-releases is limiting requests (429).");
    access.githubToken = undefined;
  });
});

describe("a redirect from an address that the operator named", () => {
  test("to the same address is followed", async () => {
    registry.reply = (request, response) =>
      (request.url?.startsWith("/moved") ? NOTHING : status(302, { Location: "/moved" }))(request, response);
    const source = recordOf(await create("web"));
    await run("npm");
    expect((await read(source)).last_success_at).toBeDefined();
  });

  test.each(["127.0.0.1", "localhost", "[::1]", "169.254.169.254"])(
    "to another port or host inside is not: %s",
    async (host) => {
      await using inside = await openRegistry();
      const location = inside.url.replace("127.0.0.1", host);
      registry.reply = status(302, { Location: location });
      const source = recordOf(await create("web"));
      await run("npm");
      expect((await read(source)).last_error).toMatch(/^npm could not be reached: The URL must not point to/);
      expect(inside.asked).toEqual([]);
    },
  );

  test("to the address of another kind is not", async () => {
    await using other = await openRegistry();
    const usual = access;
    access = createRegistryAccess({ urls: { npm: registry.url, crates: other.url } });
    registry.reply = status(307, { Location: other.url });
    const source = recordOf(await create("web"));
    await run("npm");
    access = usual;
    expect((await read(source)).last_error).toMatch(/must not point to/);
    expect(other.asked).toEqual([]);
  });
});

test("a thing with more counts than anybody can look at is said in a sentence", async () => {
  const assets = Array.from({ length: 510 }, (_, id) => ({
    id,
    download_count: 1,
    created_at: "2026-01-01T00:00:00Z",
  }));
  const page = JSON.stringify(Array.from({ length: 100 }, (_, nth) => ({ tag_name: `v${nth}`, assets })));
  registry.reply = (_, response) => void response.end(page);
  const source = recordOf(await create("acme/tool", "github-releases"));
  await run("github-releases");
  expect((await read(source)).last_error).toBe("The response has more than 100000 counts.");
});
