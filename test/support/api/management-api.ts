import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { Pool } from "pg";
import { pino } from "pino";
import { createAccount } from "../../../api/base/identity/accounts.js";
import { type AppDeps, createApp } from "../../../api/app.js";
import type { Route } from "../../../api/base/http/route.js";
import { type TokenCipher, createTokenCipher } from "../../../api/base/identity/tokens.js";
import { createApiServer } from "../../../deploy/roles/servers/create-api-server.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import { makeDatabase } from "../stores/prepared-stores.js";
import { checkAnswersOf } from "./check-answer.js";

export const SECRET_KEY = Buffer.alloc(32, "management tests");

/** A database of its own in a real PostgreSQL, brought up to date. */
export interface TestPostgres extends AsyncDisposable {
  url: string;
  pg: Pool;
}

/** Connections as requests have them, for tests that send more at once than there are, on a machine that is busy. */
const PATIENT = { connectionMs: 60_000, lockMs: 60_000, statementMs: 60_000 };

export async function openTestPostgres(): Promise<TestPostgres> {
  const database = await makeDatabase();
  const log = pino({ level: "silent" });
  const pg = connectPostgres({ url: database.url, connectionsMax: 4, log, limits: PATIENT });
  const close = async () => {
    await pg.end();
    await database[Symbol.asyncDispose]();
  };
  return { url: database.url, pg, [Symbol.asyncDispose]: close };
}

/** The management API on a free port of this machine. */
export interface ServedApi extends AsyncDisposable {
  url: string;
  tokens: TokenCipher;
  /** Makes an account of that name and answers its token. */
  account: (username: string) => Promise<string>;
  call: (token: string, request: string, body?: unknown) => Promise<Answer>;
  /** Makes an additional token of the account whose own token is given. */
  limitedToken: (token: string, limits: object) => Promise<string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON body, or its text where it is none. */
  body: unknown;
}

export interface ServeOptions extends Partial<
  Pick<
    AppDeps,
    | "corsOrigins"
    | "bodyMsMax"
    | "trustsProxy"
    | "collect"
    | "hosts"
    | "quotas"
    | "publicRoutes"
    | "exportPermits"
    | "requestsPerSecond"
  >
> {
  pg: Pool;
  routes?: Route[];
  /** Of the database, where a program has filled it. */
  secretKey?: Buffer;
}

export async function serveApi({
  pg,
  routes = [],
  secretKey = SECRET_KEY,
  requestsPerSecond = 1_000_000,
  ...options
}: ServeOptions): Promise<ServedApi> {
  const tokens = createTokenCipher(secretKey);
  const checks = { postgres: async () => void (await pg.query("select 1")) };
  const log = pino({ level: "silent" });
  const limits = { requestsPerSecond, auditAccessMax: 100 };
  const app = createApp({ ...options, ...limits, pg, tokens, log, readiness: { checks }, routes });
  const handle = app.callback();
  const server = createApiServer((req, res) => void handle(req, res));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await checkAnswersOf(url);
  return {
    url,
    tokens,
    account: (username) => createAccount({ pg, tokens }, { username, email: `${username}@example.org` }),
    call: (token, request, body) => call(url, { token, request, body }),
    limitedToken: async (token, limits) => {
      const body = { name: randomUUID(), ...limits };
      const made = await call(url, { token, request: "POST /v1/user/tokens", body });
      return (made.body as { token: string }).token;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** `request` is `METHOD /path`; a body is sent as JSON. */
async function call(
  url: string,
  { token, request, body }: { token: string; request: string; body: unknown },
): Promise<Answer> {
  const [method = "GET", path = "/"] = request.split(" ", 2);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...sent,
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : text,
  };
}
