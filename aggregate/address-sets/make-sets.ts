import type { ClickHouse, Shards } from "../../schemas/shards.js";
import { ONE_SNAPSHOT } from "../queries/live-addresses.js";
import { daysWithSets, IS_KEPT, IS_STALE } from "../queries/valid-sets.js";
import { readQuery } from "../read-query.js";
import { isRewriting } from "../retention/delete-rows.js";
import { changeNumbers } from "./number-tables.js";

/** A package and day without a set that holds, by their addresses at that time. */
export interface StaleDay {
  package: string;
  date: string;
  /** Decimal digits. */
  fingerprint: string;
  downloads: string;
}

/** The newest come first. Sets are made from events: a day without them keeps its set, and gets none anew. */
export async function readStaleDays(server: ClickHouse): Promise<StaleDay[]> {
  const days = daysWithSets(IS_KEPT, { amount: "total", set: "addresses" });
  const answer = await server.query({
    query: `SELECT package, date, fingerprint, amount AS downloads FROM (${days})
WHERE ${IS_STALE} AND amount <= ${DAY_MAX} ORDER BY date DESC, package LIMIT ${DAYS_LOOKED_AT}`,
    format: "JSONEachRow",
    clickhouse_settings: { ...ONE_SNAPSHOT, output_format_json_quote_64bit_integers: 1 },
  });
  return answer.json<StaleDay>();
}

/** The rows of a day with more downloads are read: its set would take more memory than the job may have. */
const DAY_MAX = 5_000_000;
const DAYS_LOOKED_AT = 100_000;
/** A second or two of work. ClickHouse takes 128 KiB of parameters. */
const GROUP = { downloadsMax: 1_000_000, daysMax: 1_000 };

/** At least one day where there is any. */
export function firstGroup(days: readonly StaleDay[]): StaleDay[] {
  let downloads = 0;
  const isWithin = (day: StaleDay, index: number) => {
    downloads += Number(day.downloads);
    return index === 0 || downloads <= GROUP.downloadsMax;
  };
  const end = days.slice(0, GROUP.daysMax).findIndex((day, index) => !isWithin(day, index));
  return days.slice(0, end < 0 ? GROUP.daysMax : end);
}

/** Half a per cent below the greatest UInt32. */
const NUMBERS_MAX = 4_270_000_000;

/**
 * Makes the sets of these days, unless there are no numbers left; answers whether there were. A set that a power cut left
 * without its numbers would count addresses twice once others have these: numbers are on the disk before a set with them
 * is made, and where they are lost nevertheless, as with tables of two backups, all sets are made anew.
 */
export async function makeSets(
  shards: Shards,
  server: ClickHouse,
  days: readonly StaleDay[],
): Promise<boolean> {
  // A process died that was taking numbers away.
  if (await isRewriting(server, "address_numbers")) return true;
  const { last, lost } = await readNumbers(server);
  if (last > NUMBERS_MAX) return false;
  if (lost) await changeNumbers(server, { query: "TRUNCATE TABLE address_sets" });
  const params = { packages: days.map((day) => day.package), dates: days.map(({ date }) => date) };
  await changeNumbers(server, { query: await queryOf("number-addresses"), params });
  await shards.sync();
  await changeNumbers(server, { query: await queryOf("make-sets"), params });
  return true;
}

async function readNumbers(server: ClickHouse): Promise<{ last: number; lost: boolean }> {
  const answer = await server.query({
    query: `SELECT toFloat64((SELECT max(number) FROM address_numbers)) AS last, max(numbers) > last AS lost FROM address_sets`,
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ last: number; lost: 0 | 1 }>();
  return { last: row?.last ?? 0, lost: row?.lost === 1 };
}

async function queryOf(name: "number-addresses" | "make-sets"): Promise<string> {
  return (await readQuery(`address-sets/${name}`)).replaceAll("IN {days}", `IN ${DAYS}`);
}

const DAYS = "(SELECT arrayJoin(arrayZip({packages:Array(UUID)}, {dates:Array(Date)})))";
