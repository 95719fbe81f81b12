import { count, numbered } from "../../schemas/records/numbered.js";
import { Command, Option } from "commander";
import { STATISTICS_LISTS, listNamed } from "../../schemas/contracts/breakdowns.js";
import { addDays } from "../../schemas/date-range.js";
import type { Statistics, StatisticsListPage, StatisticsRow } from "../../schemas/contracts/statistics.js";
import { readJson } from "../import/call-api.js";
import { printRecord } from "../import/print-record.js";
import { type ServiceOptions, addServiceOptions, serviceOf } from "../import/service-options.js";
import { type Target, nearTarget, parseTarget } from "../import/target.js";

interface Options extends ServiceOptions {
  from?: string;
  until?: string;
  by?: string;
}

/** `stats`: numbers of an owner or a package, without a browser. */
export function statsCommand(): Command {
  const command = new Command("stats")
    .argument("<owner[/package]>", "owner, or package of an owner: acme or acme/web")
    .option("--from <day>", "start of the range, such as 2026-11-01 (default: the range is the last 30 days)")
    .option("--until <day>", "end of the range, exclusive")
    .addOption(
      new Option("--by <list>", "show the top 50 rows of this list instead of the totals").choices(
        STATISTICS_LISTS.map(({ name }) => name),
      ),
    );
  return addServiceOptions(command).action(show);
}

async function show(text: string, { json, by, ...options }: Options): Promise<void> {
  const service = serviceOf(options);
  const target = parseTarget(text, "the argument");
  const path = pathOf(target, options, by);
  await nearTarget(service, target, async () => {
    if (by === undefined) return printRecord(await readJson<Statistics>(service, path), json, totalsText);
    const { rows } = await readJson<StatisticsListPage>(service, path);
    for (const row of rows) printRecord(row, json, () => rowText(row, by));
  });
}

function pathOf({ owner, packageName }: Target, { from, until }: Options, by: string | undefined): string {
  const query = new URLSearchParams({
    ...(from !== undefined && { startDate: from }),
    ...(until !== undefined && { endDate: until }),
    ...(packageName !== undefined && { package: packageName }),
    ...(by !== undefined && { per_page: "50" }),
  });
  return `/v2/${encodeURIComponent(owner)}/stats${by === undefined ? "" : `/${by}`}?${query.toString()}`;
}

function totalsText({ start_date: from, end_date: until, totals, series }: Statistics): string {
  const { downloads, views, unique_addresses: addresses, companies } = totals;
  return [
    `${from} to ${addDays(until, -1)} (UTC): ${numbered(downloads, "download")}, ${numbered(addresses, "unique IP")}, ${numbered(views, "view")}, ${numbered(companies, "company", "companies")}`,
    ...series.map((day) => `${day.date}  ${count(day.downloads).padStart(13)}`),
  ].join("\n");
}

function rowText(row: StatisticsRow, by: string): string {
  const { values, counts } = listNamed(by);
  const names = values.map(({ field }) => row[field] ?? "").filter((value) => value !== "");
  const share = `${(row.share * 100).toFixed(1)} %`;
  return `${count(Number(row[counts] ?? row["views"])).padStart(13)}  ${share.padStart(7)}  ${names.join(" ")}`;
}
