import { VARIABLES_MAX } from "../../../schemas/contracts/package-routing.js";
import { Problem } from "../../../schemas/problem.js";
import {
  IMPORT_FORMATS,
  type ImportFormat,
  isAccessLog,
  type LineFormat,
} from "../../../schemas/records/import-format.js";
import type { RawChunk } from "../../../schemas/records/raw-chunk.js";
import { decodeRouteTemplate } from "../../../schemas/routing/url-template.js";
import type { Parameters, QueryOf } from "../../base/http/answers/query-parameters.js";

export type AskedFormat = Pick<LineFormat, "format" | "path">;

/** @throws Problem invalid-query for a path that is not a template, or not of an access log */
export function lineFormatOf(
  { format, path = "" }: QueryOf<typeof LINE_FORMAT_QUERY>,
  artifactKind: RawChunk["artifactKind"],
): AskedFormat {
  if (isAccessLog(format) && artifactKind === "any")
    throw new Problem(
      "invalid-query",
      `Lines of the format ${format} do not name a package. Import them at /v2/packages/{owner}/{package}/import.`,
    );
  return { format, path: parsePath(path, format) };
}

function parsePath(path: string, format: ImportFormat): string {
  if (path === "") return path;
  if (!isAccessLog(format))
    throw new Problem(
      "invalid-query",
      "path can only be used with the format of an access log. Add one, such as format=combined.",
    );
  const template = decodeRouteTemplate(path);
  if ("fault" in template) throw new Problem("invalid-query", `path ${template.fault}.`);
  if (template.variables.length > VARIABLES_MAX)
    throw new Problem("invalid-query", `path can have at most ${VARIABLES_MAX} variables.`);
  return path;
}

/** As of routes. */
const PATH_LENGTH_MAX = 1_024;

export const LINE_FORMAT_QUERY = {
  format: {
    schema: { type: "string", enum: IMPORT_FORMATS, default: "ndjson" },
    description: "Format of the lines. Lines are stored and returned as they were sent",
  },
  path: {
    schema: { type: "string", maxLength: PATH_LENGTH_MAX },
    description:
      "For access logs: the paths that count as downloads, as a URL template such as " +
      "`/releases/tool-{version}.tgz`. Its variables become variables of the event",
    sentence: `must be a single URL template of at most ${PATH_LENGTH_MAX} characters`,
  },
} as const satisfies Parameters;

/** What a key of idempotency was used for, beside the path of the request. */
export function querySuffix({ format, path }: AskedFormat): string {
  return format === "ndjson" ? "" : `?${new URLSearchParams({ format, path }).toString()}`;
}
