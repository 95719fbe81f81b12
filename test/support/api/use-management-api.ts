import { afterAll, beforeAll } from "vitest";
import { openTestPostgres, serveApi, type ServedApi, type TestPostgres } from "./management-api.js";

export interface ManagementApi {
  postgres: TestPostgres;
  api: ServedApi;
}

const START_MS_MAX = 300_000;

/** A PostgreSQL and the API on it for the tests of a file: open before the first, closed after the last. */
export function useManagementApi(give: (opened: ManagementApi) => void): void {
  let opened: ManagementApi | undefined;
  beforeAll(async () => {
    const postgres = await openTestPostgres();
    opened = { postgres, api: await serveApi(postgres) };
    give(opened);
  }, START_MS_MAX);
  afterAll(async () => {
    await opened?.api[Symbol.asyncDispose]();
    await opened?.postgres[Symbol.asyncDispose]();
  });
}
