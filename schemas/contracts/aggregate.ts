import { titledObject } from "../formats.js";
import { BREAKDOWN_LIST, type BreakdownDeclaration } from "./breakdowns.js";

type Declared = (typeof BREAKDOWN_LIST)[number];

export type Breakdown = Declared["name"];

export const BREAKDOWNS: readonly Breakdown[] = BREAKDOWN_LIST.map(({ name }) => name);

type ValueField = Extract<Declared, { values: unknown }>["values"][number]["field"];
type AddressField = Extract<Declared, { addressField: unknown }>["addressField"];

/** One line of an aggregates export. Fields of other breakdowns are absent. */
export type AggregateV1 = {
  breakdown: Breakdown;
  date: string;
  package: string;
  total: number;
  /** In every format but NDJSON, and there on request. */
  package_name?: string;
} & { [field in ValueField]?: string } & { [field in AddressField]?: number };

export const PACKAGE_NAME = "package_name";

/** The breakdowns whose columns came before that of the package's name. */
const BREAKDOWNS_BEFORE_NAME = 8;

/** Puts the name behind the columns of the first breakdowns: its place stays when a breakdown is appended. */
export function withPackageName<Each>(ofBreakdowns: readonly Each[], name: Each): Each[] {
  return ofBreakdowns.toSpliced(BREAKDOWNS_BEFORE_NAME, 0, name);
}

export function aggregateSchema(breakdowns: readonly BreakdownDeclaration[]) {
  return titledObject("AggregateV1", ["breakdown", "date", "package", "total"], {
    breakdown: { type: "string", enum: breakdowns.map(({ name }) => name) },
    date: { type: "string", format: "date", description: "A UTC day" },
    package: { type: "string", format: "uuid" },
    total: { type: "integer", minimum: 1, description: "Number of downloads or pulls" },
    ...Object.fromEntries(withPackageName(breakdowns.map(fieldsOf), NAME_FIELD).flat()),
  });
}

type Field = [field: string, schema: object];

const NAME_FIELD: Field[] = [
  [
    PACKAGE_NAME,
    { type: "string", description: "Included in all formats except NDJSON, where it requires `fields=name`" },
  ],
];

export const AGGREGATE_V1 = aggregateSchema(BREAKDOWN_LIST);

function fieldsOf(breakdown: BreakdownDeclaration): Field[] {
  if ("addressField" in breakdown) {
    const description = `Distinct client IP addresses. Only in \`${breakdown.name}\``;
    return [[breakdown.addressField, { type: "integer", minimum: 0, description }]];
  }
  const { values, exportedFor } = breakdown;
  const only = exportedFor === undefined ? undefined : `Only for packages of type ${exportedFor}`;
  return values.map(({ field, description = only }) => [
    field,
    { type: "string", ...(description !== undefined && { description }) },
  ]);
}

/** The formats of an export, which are also the endings of its file's name. */
export const EXPORT_FORMATS = ["ndjson", "csv", "parquet", "arrow"] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Parquet's and Arrow's are registered with IANA. */
export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
  arrow: "application/vnd.apache.arrow.stream",
};
