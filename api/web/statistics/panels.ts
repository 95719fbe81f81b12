import { countryName } from "../parts/format.js";
import { STATISTICS_LISTS, type StatisticsList } from "../../../schemas/contracts/breakdowns.js";
import type { StatisticsRow } from "../../../schemas/contracts/statistics.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import type { ViewFilter } from "./view-state.js";

export interface PanelKind {
  list: StatisticsList;
  title: string;
  noun: string;
}

/** By name: their order on the page. */
const LABELS: Readonly<Record<string, { title: string; noun: string }>> = {
  country: { title: "Countries", noun: "Country" },
  company: { title: "Companies", noun: "Company" },
  version: { title: "Versions", noun: "Version" },
  client: { title: "Clients", noun: "Client" },
  platform: { title: "Platforms", noun: "Platform" },
  cloud_provider: { title: "Cloud providers", noun: "Cloud provider" },
  variable: { title: "Variables", noun: "Variable" },
  page: { title: "Pages", noun: "Page" },
};

const ORDER = Object.keys(LABELS);

/** Lists that a later version of the API adds have their name as title. */
export const PANELS: readonly PanelKind[] = [...STATISTICS_LISTS]
  .sort((one, other) => placeOf(one) - placeOf(other))
  .map((list) => ({ list, ...(LABELS[list.name] ?? { title: list.name, noun: list.name }) }));

export function panelNamed(name: string): PanelKind | undefined {
  return PANELS.find(({ list }) => list.name === name);
}

function placeOf({ name }: StatisticsList): number {
  const place = ORDER.indexOf(name);
  return place < 0 ? ORDER.length : place;
}

/** Lists that packages of this type have. Pages belong to pixels. */
export function panelsForPackage(type: LibraryType): PanelKind[] {
  return PANELS.filter(
    ({ list }) => list.counts === "downloads" && [undefined, type].includes(list.libraryType),
  );
}

/** A row's name as people read it. */
export function labelOf({ list }: PanelKind, row: StatisticsRow): string {
  const values = list.values.map(({ field }) => String(row[field] ?? ""));
  if (list.name === "country") return countryName(values[0] ?? "");
  if (list.name === "variable") return values.join(" = ");
  if (list.name === "client") return values.filter((value) => value !== "").join(" ");
  return values[0] ?? "";
}

/** What is known of clients whose name alone says little. */
const CLIENT_EXPLANATIONS: Readonly<Record<string, string>> = {
  containers: "Podman, Skopeo or Buildah",
  go: "Go program, such as a module proxy or a script",
};

/** In words what the label lacks. */
export function explanationOf({ list }: PanelKind, row: StatisticsRow): string | undefined {
  return list.name === "client" ? CLIENT_EXPLANATIONS[String(row["client"])] : undefined;
}

/** The detail that the label lacks: a company's domain. */
export function detailOf({ list }: PanelKind, row: StatisticsRow): string | undefined {
  const [, domain] = list.values;
  const value = domain && row[domain.field];
  return domain?.column.endsWith("_domain") && typeof value === "string" ? value : undefined;
}

/** The filters that keep only this row. */
export function filtersOf({ list }: PanelKind, row: StatisticsRow): ViewFilter[] {
  const text = (field: string) => String(row[field] ?? "");
  if (list.name === "variable") return [{ name: `variable.${text("variable")}`, value: text("value") }];
  if (list.name === "company" && text("company_domain") !== "")
    return [{ name: "company_domain", value: text("company_domain") }];
  return list.values.flatMap(({ field, filter }) =>
    filter === undefined ? [] : [{ name: filter, value: text(field) }],
  );
}

export function countOf({ list }: PanelKind, row: StatisticsRow): number {
  return Number(row[list.counts] ?? row["views"] ?? row["downloads"] ?? 0);
}
