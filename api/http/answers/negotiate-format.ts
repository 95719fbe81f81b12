import { EXPORT_FORMATS, MEDIA_TYPES, type ExportFormat } from "../../../schemas/contracts/export-format.js";
import type { ApiContext } from "../route.js";

/** The format that `Accept` rates highest; NDJSON if `Accept` is absent or names no known format. */
export function negotiateFormat(ctx: ApiContext): ExportFormat {
  ctx.vary("Accept");
  const type = ctx.accepts(EXPORT_FORMATS.map((format) => MEDIA_TYPES[format]));
  return EXPORT_FORMATS.find((format) => MEDIA_TYPES[format] === type) ?? "ndjson";
}
