import { composeEvents } from "../../../aggregate/queries/events/open-events.js";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { StartFailure } from "../../../deploy/process/start-failure.js";
import { type CurlRun, queryByCurl, runCurl } from "../common/run-curl.js";

/** Our answer, and that of the query which the program asked ClickHouse for it. */
export interface CsvRound {
  ours: CurlRun;
  clickhouse: CurlRun;
}

export interface CsvSetup {
  api: ApiClient;
  /** With credentials. */
  clickhouseUrl: string;
  packageId: string;
  pid: number;
}

export async function runCsvRound({ api, clickhouseUrl, packageId, pid }: CsvSetup): Promise<CsvRound> {
  const { startDate, endDate } = MONTH;
  const path = `/v1/packages/${packageId}/events/bench.csv?startDate=${startDate}&endDate=${endDate}`;
  const ours = await runCurl(pid, [`${api.url}${path}`, "-H", `Authorization: Bearer ${api.token}`]);
  const artifacts = [{ id: packageId, packageName: "bench" }];
  const asked = { ...MONTH, artifacts, unsettled: SETTLED, format: "csv" as const };
  const { query, params, settings } = await composeEvents(asked, { rows: 0, restored: 0 });
  const peer = await queryByCurl(pid, clickhouseUrl, { query, params, settings });
  if (peer.bytes !== ours.bytes)
    throw new StartFailure(`The export has ${ours.bytes} bytes, and that of ClickHouse ${peer.bytes}.`);
  return { ours, clickhouse: peer };
}

const MONTH = { startDate: "2025-03-01", endDate: "2025-04-01" };
const SETTLED = { imports: [], fromVersion: "0", retracted: [], changed: false };
