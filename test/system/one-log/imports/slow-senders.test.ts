import type { RequestListener, Server } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { switchAccount } from "../../../../api/features/accounts/administer-accounts.js";
import { importRoutes } from "../../../../api/features/imports/import-routes.js";
import { createApiServer } from "../../../../deploy/roles/servers/create-api-server.js";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { type ListeningServer, listen } from "../../../../deploy/roles/servers/listen.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import { settlesWithin } from "../../../../schemas/async/pause.js";
import { idOf, joinOrganization } from "../../../support/api/management-world.js";
import { api, as, makePackage, postgres, useOneWorld, world } from "../../../support/api/use-world.js";
import { type Browser, openBrowser } from "../../../support/dashboard/open-browser.js";
import {
  type RawConnection,
  openBareSocket,
  openSocket,
  openUpload,
} from "../../../support/imports/open-upload.js";
import { UNUSED_LOG } from "../../../support/stores/unused-log.js";

const LINE = '{"$time":"2025-03-10T12:00:00Z"}\n';

describe("a sender that stands still", () => {
  useOneWorld(({ pg }) => ({
    routes: importRoutes({ pg, eventLog: UNUSED_LOG, active: new ActiveUploads(), idleMsMax: 200 }),
  }));

  test.each([
    ["before its first byte", "", "identity"],
    ["in a line", LINE.slice(0, 5), "identity"],
    ["in the header of its gzip", gzipSync(LINE).subarray(0, 3), "gzip"],
    ["in the middle of its gzip", gzipSync(LINE).subarray(0, 20), "gzip"],
  ])("%s is answered 408, and its import is aborted", async (_, start, encoding) => {
    const { organization, tokens } = world;
    const as = { url: api.url, token: tokens.admin } as ApiClient;
    const headers = ["Transfer-Encoding: chunked", `Content-Encoding: ${encoding}`];
    const upload = await openSocket(as, { path: `/v2/${organization}/import`, headers });
    await upload.send(start.length === 0 ? "" : chunkOf(start));
    await expect.poll(() => upload.answered()).toMatch(/^HTTP\/1.1 408 [^]*"request-timeout"/);
    upload.breakOff();
    const { rows } = await postgres.pg.query<Record<string, unknown>>(
      "select status, entries from imports order by id desc limit 1",
    );
    expect(rows).toMatchObject([
      { status: "aborted", entries: [{ type: "upload-interrupted", line: 0, class: "error" }] },
    ]);
  });
});

describe("an upload whose caller may no longer import", () => {
  useOneWorld(({ pg }) => ({
    routes: importRoutes({ pg, eventLog: UNUSED_LOG, active: new ActiveUploads() }),
  }));

  interface Importer {
    username: string;
    token: string;
    packageId: string;
    /** Below the organization's. */
    pixelId: string;
    browser: Browser;
  }

  /** An admin of the organization, with a package and a pixel of it. */
  async function makeImporter(username: string): Promise<Importer> {
    const { organization } = world;
    const token = await api.account(username);
    await joinOrganization(postgres.pg, { organization, username, role: "admin" });
    const packageId = await makePackage({ name: username, libraryType: "other" });
    const pixelId = idOf(await as("owner", `POST /v2/pixels/${organization}`, { name: username }));
    return { username, token, packageId, pixelId, browser: openBrowser({ url: api.url }) };
  }

  async function credentialsOf({ username, token, browser }: Importer, kind: string) {
    if (kind === "limited token") return { token: await api.limitedToken(token, { scopes: ["import"] }) };
    if (kind === "token") return { token };
    await browser.post("/dashboard/sign-in", { action: "sign-in", username, secret: token, to: "" });
    const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`);
    const headers = { Cookie: cookies.join("; "), "Sec-Fetch-Site": "same-origin" };
    return { token: "", headers, below: "/dashboard/api" };
  }

  const importsOf = async ({ username }: Importer) => {
    const text = `
      select i.status, i.retracted, i.chunks_total as chunks, i.entries -> 0 ->> 'type' as entry
      from imports i join owners o on o.id = i.account_id where o.name = $1`;
    return (await postgres.pg.query<Record<string, unknown>>(text, [username])).rows;
  };

  const disable = ({ username }: Importer) => switchAccount(postgres.pg, { username, disabled: true });
  const rotate = ({ token }: Importer) => api.call(token, "POST /v1/user/token");
  const signOut = ({ browser }: Importer) => browser.post("/dashboard/sign-out", {});
  const revoke = async ({ token }: Importer) => {
    const [listed] = (await api.call(token, "GET /v1/user/tokens")).body as { id: string }[];
    await api.call(token, `DELETE /v1/user/tokens/${listed?.id}`);
  };
  const limitTo = (permissionLevel: string) => (to: Importer) =>
    as("owner", `POST /v1/packages/${to.packageId}/permissions`, { userQuery: to.username, permissionLevel });
  const setRole = (role: string) => (of: Importer) =>
    as("owner", `POST /v1/organizations/${world.organization}/users`, { username: of.username, role });
  const remove = ({ username }: Importer) =>
    as("owner", `DELETE /v1/organizations/${world.organization}/users/${username}`);

  const ofPackage = ({ packageId }: Importer) => `/v2/packages/${world.organization}/${packageId}/import`;
  const ofPixel = ({ pixelId }: Importer) => `/v2/pixels/${world.organization}/${pixelId}/import`;
  const ofOwner = () => `/v2/${world.organization}/import`;

  const CASES = [
    ["account-disabled", "token", ofPackage, disable, "401 unauthenticated"],
    ["token-rotated", "token", ofOwner, rotate, "401 unauthenticated"],
    ["token-revoked", "limited token", ofPixel, revoke, "401 unauthenticated"],
    ["signed-out", "session", ofPackage, signOut, "401 unauthenticated"],
    ["may-read-only", "limited token", ofPackage, limitTo("member"), "403 forbidden"],
    ["blocked", "session", ofPackage, limitTo("blocked"), "404 not-found"],
    ["member-now", "token", ofPixel, setRole("member"), "403 forbidden"],
    ["left", "session", ofOwner, remove, "404 not-found"],
  ] as const;

  async function endOf([username, kind, pathOf, takeRight]: (typeof CASES)[number]) {
    const importer = await makeImporter(username);
    const { token, headers, below = "" } = await credentialsOf(importer, kind);
    const upload = openUpload({ url: api.url, token } as ApiClient, below + pathOf(importer), headers);
    await upload.send(LINE.slice(0, 5));
    await expect.poll(() => importsOf(importer)).toMatchObject([{ status: "importing" }]);
    await takeRight(importer);
    const { status, body } = await upload.answer;
    upload.breakOff();
    return [username, `${status} ${(body as { code: string }).code}`, await importsOf(importer)];
  }

  test("ends soon, answered as a new request would be, and nothing of it stays", async () => {
    const ended = await Promise.all(CASES.map(endOf));
    const aborted = { status: "aborted", retracted: true, chunks: null, entry: "upload-interrupted" };
    expect(ended).toEqual(CASES.map(([username, , , , refusal]) => [username, refusal, [aborted]]));
  });
});

function chunkOf(bytes: Buffer | string): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    Buffer.from(bytes),
    Buffer.from("\r\n"),
  ]);
}

describe("the server of the API", () => {
  const limits = { headersMs: 400, lingerMs: 600 };
  const open: RawConnection[] = [];
  let server: ListeningServer;

  const refuse: RequestListener = (_, response) => void response.writeHead(413).end("too large");
  const listenLocally = (from: Server) => listen(from, { host: "127.0.0.1", port: 0, variable: "PORT" });

  beforeAll(async () => void (server = await listenLocally(createApiServer(refuse, limits))));

  afterEach(() => open.splice(0).forEach((connection) => connection.breakOff()));
  afterAll(() => server?.[Symbol.asyncDispose]());

  async function connect(to = server): Promise<RawConnection> {
    const connection = await openBareSocket(to.url);
    open.push(connection);
    return connection;
  }

  test.each([
    ["that begins with nothing", ""],
    ["that stops in the middle of its headers", "POST / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
  ])("closes a connection %s", async (_, start) => {
    const connection = await connect();
    await connection.send(start);
    expect(await connection.closed).toMatch(/^(HTTP\/1.1 408 |$)/);
  });

  test("closes a connection that sends its headers a byte at a time for ever", async () => {
    const connection = await connect();
    await connection.send("GET / HTTP/1.1\r\nX-Slow: ");
    const closed = connection.closed.then(() => true);
    while (!(await settlesWithin(closed, 50))) await connection.send("x");
    expect(connection.answered()).toMatch(/^(HTTP\/1.1 408 |$)/);
  });

  test.each(["keep-alive", "close"])(
    "answers a client that is still sending, and closes some time later (Connection: %s)",
    async (wanted) => {
      const connection = await connect();
      const part = Buffer.alloc(256 * 1024, "x");
      const head = `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: ${wanted}\r\nContent-Length: 1000000000000`;
      await connection.send(`${head}\r\n\r\n`);
      const closed = connection.closed.then(() => true);
      while (!(await settlesWithin(closed, 1))) await connection.send(part);
      expect(connection.answered()).toMatch(/^HTTP\/1.1 413 [^]*too large/);
    },
  );

  test("goes on with a connection whose sender came to its end", async () => {
    // With its usual limits: the test may be slower than the others'.
    await using patient = await listenLocally(createApiServer(refuse));
    const connection = await connect(patient);
    const request = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";
    await connection.send(`${request}abc`);
    await expect.poll(() => connection.answered()).toMatch(/too large/);
    await connection.send(`de${request}abcde`);
    await expect.poll(() => connection.answered().split("HTTP/1.1 413 ").length).toBe(3);
    connection.breakOff();
  });

  test("reads the rest of a body also when its reader left in the middle", async () => {
    const abandoning = createApiServer((request, response) => {
      const parts = request.iterator({ destroyOnReturn: false });
      void parts.next().then(() => {
        void parts.next();
        response.writeHead(409).end("aborted");
      });
    });
    await using left = await listenLocally(abandoning);
    const connection = await connect(left);
    const rest = Buffer.alloc(8_000_000, "x");
    const request = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${rest.length + 1}\r\n\r\na`;
    await connection.send(request);
    await expect.poll(() => connection.answered()).toMatch(/aborted/);
    await connection.send(rest);
    await connection.send(request);
    await expect.poll(() => connection.answered().split("HTTP/1.1 409 ").length).toBe(3);
    connection.breakOff();
  });
});
