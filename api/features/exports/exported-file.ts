import { EXPORT_FORMATS, type ExportFormat } from "../../../schemas/contracts/aggregate.js";
import { Problem } from "../../../schemas/problem.js";

/** A file, as named by the last part of an export's path. */
export interface ExportedFile {
  format: ExportFormat;
  /** For `Content-Disposition`: needs no quoting and contains no path. */
  name: string;
}

const NAME_LENGTH_MAX = 100;

/** Only the ending has a meaning; clients save the answer under the whole name. Throws `not-found`. */
export function parseExportedFile(fileName: string): ExportedFile {
  const format = formatOf(fileName);
  const stem = fileName.slice(0, -format.length - 1).replace(/[^A-Za-z0-9._-]+/g, "-");
  const safe = stem.replace(/^[.-]+/, "").slice(0, NAME_LENGTH_MAX);
  return { format, name: `${safe || "events"}.${format}` };
}

/** Throws `not-found`. */
export function formatOf(fileName: string): ExportFormat {
  const format = EXPORT_FORMATS.find((each) => fileName.endsWith(`.${each}`));
  if (format !== undefined) return format;
  const endings = EXPORT_FORMATS.map((each) => `.${each}`).join(", ");
  throw new Problem("not-found", `Unknown export format: the file name must end in one of ${endings}.`);
}

export const EXPORT_HEADERS = {
  "X-Complete-Through": {
    schema: { type: "string", format: "date-time" },
    required: true,
    description:
      "All data imported before this time is included. Live events are included within a few seconds",
  },
};
