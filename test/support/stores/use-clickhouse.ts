import { afterAll, beforeAll } from "vitest";
import { openTestClickHouse, type TestClickHouse } from "./open-clickhouse.js";

/** Of the suite that runs. */
export let clickhouse: TestClickHouse;

/** A ClickHouse for the tests of a suite: open before the first, closed after the last. */
export function useClickHouse(): void {
  let own: TestClickHouse | undefined;
  beforeAll(async () => void (clickhouse = own = await openTestClickHouse()));
  afterAll(() => own?.[Symbol.asyncDispose]());
}
