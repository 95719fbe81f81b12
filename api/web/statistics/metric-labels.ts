/** The names of the counts, wherever they are shown. */
export const METRIC_LABELS = {
  downloads: "Downloads",
  views: "Page views",
  unique_addresses: "Unique IPs",
  companies: "Companies",
} as const;

/** What a list or a page counts. */
export type Unit = (typeof METRIC_LABELS)["downloads" | "views"];
