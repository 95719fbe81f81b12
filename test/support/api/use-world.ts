import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { openEmbeddedLog } from "../../../deploy/stores/embedded/event-log/event-log.js";
import type { EventLog } from "../../../schemas/records/event-log.js";
import {
  type Answer,
  openTestPostgres,
  serveApi,
  type ServedApi,
  type ServeOptions,
  type TestPostgres,
} from "./management-api.js";
import { idOf, makeWorld, setLevel, type Who, type World } from "./management-world.js";

/** Of the suite that runs. */
export let postgres: TestPostgres;
export let api: ServedApi;
/** Of the test that runs. */
export let world: World;

type Served = Partial<ServeOptions>;
const START_MS_MAX = 300_000;

/** A PostgreSQL for the tests of a suite: open before the first, closed after the last. */
export function usePostgres(): void {
  let own: TestPostgres | undefined;
  beforeAll(async () => void (postgres = own = await openTestPostgres()), START_MS_MAX);
  afterAll(() => own?.[Symbol.asyncDispose]());
}

/** A PostgreSQL and the API on it for the tests of a suite: open before the first, closed after the last. */
export function useApi(options: (opened: TestPostgres) => Served | Promise<Served> = () => ({})): void {
  let own: ServedApi | undefined;
  usePostgres();
  beforeAll(async () => {
    api = own = await serveApi({ pg: postgres.pg, ...(await options(postgres)) });
  }, START_MS_MAX);
  afterAll(() => own?.[Symbol.asyncDispose]());
}

/** As `useApi`, with a world of its own for each test. */
export function useWorld(options?: Parameters<typeof useApi>[0]): void {
  useApi(options);
  beforeEach(async () => {
    world = await makeWorld(api, postgres.pg);
  });
}

/** As `useApi`, with one world for all tests. */
export function useOneWorld(options?: Parameters<typeof useApi>[0]): void {
  useApi(options);
  beforeAll(async () => {
    world = await makeWorld(api, postgres.pg);
  });
}

/** An event log in a directory of its own, which goes with it. */
export async function openTestLog(): Promise<EventLog> {
  const dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-log-"));
  const log = await openEmbeddedLog({ dir });
  const close = log[Symbol.asyncDispose].bind(log);
  return Object.assign(log, {
    async [Symbol.asyncDispose]() {
      await close();
      await rm(dir, { recursive: true });
    },
  });
}

export const as = (who: Who, request: string, body?: unknown): Promise<Answer> =>
  api.call(world.tokens[who], request, body);

/** A package of the organization; its id. */
export async function makePackage(body: object, by: Who = "admin"): Promise<string> {
  const request = `POST /v1/organizations/${world.organization}/packages`;
  return idOf(await as(by, request, { shortDescription: "", ...body }));
}

/** A package of the caller's own; its id. */
export async function makeOwnPackage(by: Who, body: object): Promise<string> {
  return idOf(await as(by, "POST /v1/packages", { shortDescription: "", ...body }));
}

export const giveLevel = (who: Who, packageId: string, level: string): Promise<void> =>
  setLevel(postgres.pg, { packageId, username: world.names[who], level });

export const refused = (status: number, code: string) => ({ status, body: { code } });

/** The paths of the faults that an answer names, sorted. */
export const faultsOf = ({ body }: Pick<Answer, "body">): string[] =>
  (body as { errors: { path: string }[] }).errors.map(({ path }) => path).sort();
