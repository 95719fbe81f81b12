import { BREAKDOWN_LIST } from "../../../schemas/contracts/breakdowns.js";
import { COUNTRY, lastDays } from "./look-requests.js";
import { DAYS, type StoredEvents } from "./store-events.js";

export interface BareStatement {
  name: string;
  query: string;
  params: Record<string, string>;
}

/** What somebody would ask ClickHouse for who has only `events`. Overridden events count in all of them. */
export function bareStatements(stored: StoredEvents, turn: number): BareStatement[] {
  const [largest = ""] = stored.packageIds;
  const owner = `[${stored.packageIds.map((id) => `'${id}'`).join(",")}]`;
  const on = (days: number, packages = owner) => {
    const { startDate, endDate } = lastDays(days, stored, turn);
    return { packages, startDate, endDate };
  };
  const month = on(MONTH);
  const quarter = on(DAYS);
  const ofLargest = on(MONTH, `['${largest}']`);
  return [
    { name: "uniq (approximate), 30 days", query: `SELECT uniq(endpoint_id) ${FROM}`, params: month },
    { name: "uniqExact, 30 days", query: `SELECT uniqExact(endpoint_id) ${FROM}`, params: month },
    { name: "uniq (approximate), 90 days", query: `SELECT uniq(endpoint_id) ${FROM}`, params: quarter },
    { name: "uniqExact, 90 days", query: `SELECT uniqExact(endpoint_id) ${FROM}`, params: quarter },
    { name: "uniqExact by day and in all, 30 days", query: BY_DAY, params: month },
    { name: "uniqExact by day and in all, 90 days", query: BY_DAY, params: quarter },
    {
      name: "uniqExact by day and in all, 90 days, one country",
      query: `${FROM_DAYS} AND country = '${COUNTRY}' ${DAY_SETS}`,
      params: quarter,
    },
    { name: "uniqExact by day and in all, 30 days, largest package", query: BY_DAY, params: ofLargest },
    { name: "every list, 30 days", query: groupedBy([]), params: month },
    { name: "aggregates, without order, 30 days", query: groupedBy(["artifact", "date"]), params: month },
    {
      name: "events of the largest package as CSV, 30 days",
      query: `SELECT * ${FROM} FORMAT CSVWithNames`,
      params: ofLargest,
    },
  ];
}

const MONTH = 30;

const FROM = `FROM events
  WHERE artifact IN {packages:Array(UUID)} AND date >= {startDate:Date} AND date < {endDate:Date} AND sign > 0`;
const DAY_SETS = "GROUP BY GROUPING SETS ((date), ())";
const FROM_DAYS = `SELECT date, count(), uniqExact(endpoint_id) ${FROM}`;
const BY_DAY = `${FROM_DAYS} ${DAY_SETS}`;

/** The breakdowns that are columns of `events`, and the addresses. */
function groupedBy(keys: readonly string[]): string {
  const sets = BREAKDOWN_LIST.flatMap((each) =>
    "values" in each && each.name !== "variable"
      ? [[...keys, ...each.values.map(({ column }) => column)]]
      : [],
  );
  const columns = [...new Set(sets.flat())].join(", ");
  const lists = sets.map((set) => `(${set.join(", ")})`).join(", ");
  return `SELECT ${columns}, count() AS total ${FROM} GROUP BY GROUPING SETS (${lists}) FORMAT JSONEachRow`;
}
