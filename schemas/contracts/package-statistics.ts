import { COUNT, DATE, TIMESTAMP } from "../formats.js";

/** The downloads of each package of an owner, side by side. */
export interface PackageStatistics {
  /** `YYYY-MM-DD`, UTC. */
  start_date: string;
  /** The first day that is left out. */
  end_date: string;
  complete_through: string;
  packages: PackageDownloads[];
}

export interface PackageDownloads {
  /** UUID. */
  package: string;
  name: string;
  downloads: number;
  /** Against as many days right before; null if there was nothing. */
  change: number | null;
  /** The downloads of each day, those without any included. */
  days: number[];
}

const PACKAGE_DOWNLOADS = {
  title: "PackageDownloads",
  type: "object",
  required: ["package", "name", "downloads", "change", "days"],
  additionalProperties: false,
  properties: {
    package: { type: "string", format: "uuid" },
    name: { type: "string" },
    downloads: COUNT,
    change: {
      type: ["number", "null"],
      description: "Against as many days right before: 0.5 is half as many again; null if there was nothing",
    },
    days: { type: "array", items: COUNT, description: "Downloads of each day of the range" },
  },
} as const;

export const PACKAGE_STATISTICS = {
  title: "PackageStatistics",
  type: "object",
  required: ["start_date", "end_date", "complete_through", "packages"],
  additionalProperties: false,
  properties: {
    start_date: DATE,
    end_date: { ...DATE, description: "The first day that is left out" },
    complete_through: TIMESTAMP,
    packages: { type: "array", items: PACKAGE_DOWNLOADS, description: "The most downloaded first" },
  },
} as const;
