import { DAY_MS, dateAt } from "../../../schemas/date-range.js";
import { OWNER } from "../common/create-bench-account.js";
import { DAYS, type StoredEvents } from "./store-events.js";

export interface LookRequest {
  name: string;
  path: string;
  headers?: string;
}

const MONTH = 30;
export const COUNTRY = "US";

/** Up to the last stored day, or as many days earlier as there were turns, so that no turn finds the answer of another. */
export function lastDays(days: number, { from }: StoredEvents, turn: number) {
  const end = Date.parse(from) + (DAYS - turn) * DAY_MS;
  return { startDate: dateAt(end - days * DAY_MS), endDate: dateAt(end) };
}

/** What programs ask for. */
export function requestsOf(stored: StoredEvents, turn: number): LookRequest[] {
  const [largest = ""] = stored.packageIds;
  const month = query(lastDays(MONTH, stored, turn));
  const quarter = query(lastDays(DAYS, stored, turn));
  const stats = `/v2/${OWNER}/stats`;
  const csv = `/v1/packages/${largest}/events/look.csv?${month}`;
  return [
    { name: "stats of the owner, 30 days", path: `${stats}?${month}` },
    { name: "stats of the owner, 30 days, compare=previous", path: `${stats}?${month}&compare=previous` },
    { name: "stats of the owner, 30 days, automated=exclude", path: `${stats}?${month}&automated=exclude` },
    { name: "stats of the owner, 30 days, one country", path: `${stats}?${month}&country=${COUNTRY}` },
    { name: "stats of the owner, 90 days", path: `${stats}?${quarter}` },
    { name: "stats of the owner, 90 days, automated=exclude", path: `${stats}?${quarter}&automated=exclude` },
    { name: "stats of the owner, 90 days, one country", path: `${stats}?${quarter}&country=${COUNTRY}` },
    { name: "stats of the largest package, 30 days", path: `${stats}?${month}&package=${largest}` },
    { name: "stats by package, 30 days", path: `${stats}/packages?${month}` },
    { name: "list of companies, 90 days", path: `${stats}/company?${quarter}` },
    { name: "aggregates of the owner, 30 days", path: `/v1/users/${OWNER}/aggregates?${month}` },
    { name: "events of the largest package, 30 days", path: csv },
    { name: "events of the largest package, 30 days, gzip", path: csv, headers: "Accept-Encoding: gzip" },
    { name: "events of the largest package, 30 days, zstd", path: csv, headers: "Accept-Encoding: zstd" },
  ];
}

/** What people look at. The overview has the last 30 days of now, a company the last 90. */
export function pagesOf(stored: StoredEvents, turn: number, company: string): LookRequest[] {
  const [largest = ""] = stored.packageIds;
  const month = query(lastDays(MONTH, stored, turn));
  const quarter = query(lastDays(DAYS, stored, turn));
  const home = `/dashboard/o/${OWNER}`;
  const headers = "Accept-Encoding: gzip";
  return [
    { name: "overview", path: home, headers },
    { name: "package, 30 days", path: `${home}/packages/${largest}?${month}`, headers },
    { name: "package, 90 days", path: `${home}/packages/${largest}?${quarter}`, headers },
    { name: "companies", path: `${home}/companies`, headers },
    { name: "company", path: `${home}/companies/${company}`, headers },
  ];
}

function query(range: { startDate: string; endDate: string }): string {
  return new URLSearchParams(range).toString();
}
