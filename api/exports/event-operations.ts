import { EVENT_ROW } from "../../aggregate/queries/events/event-columns.js";
import { MEDIA_TYPES } from "../../schemas/contracts/export-format.js";
import { EXPORT_HEADERS, rangeQuery } from "./export-parameters.js";
import type { Operation } from "../http/operation.js";
import { PACKAGE_PATH, PACKAGE_PROBLEMS, PACKAGE_QUERY } from "../packages/package-path.js";

const EXAMPLE = {
  type: "file-download",
  package: "tools",
  version: "1.4.0",
  time: "2026-11-01T08:00:00.000000Z",
  user_agent: "curl/8.5.0",
  variables: "os=linux",
  origin_country: "DE",
  id: "722f4f73cf197a447837a7f913a10100",
};

const FILE = {
  filename: {
    schema: { type: "string", pattern: "\\.(csv|ndjson|parquet|arrow)$" },
    description:
      "Any name; its ending says what is answered: `.csv` (RFC 4180, with a header), `.ndjson`, `.parquet` or `.arrow`",
    example: "events.csv",
  },
};

const SUMMARIES = {
  package: "Events of a package, and of the pixels that are associated with it",
  pixels: "Events of all pixels that you may export",
};

/** The OpenAPI description of an export of events. */
export function eventsOperation(of: keyof typeof SUMMARIES, { daysMax }: { daysMax: number }): Operation {
  const ofPackage = of === "package";
  return {
    id: ofPackage ? "exportPackageEvents" : "exportPixelEvents",
    tag: "Exports",
    summary: SUMMARIES[of],
    description:
      "A stream in no order, compressed on request (gzip, zstd), without overridden and retracted events. " +
      "Columns may be added at the end. A failure halfway breaks the connection; `TE: trailers` has a complete answer " +
      "end with the number of its rows, `X-Row-Count`, and is not answered with zstd.",
    path: { ...(ofPackage && PACKAGE_PATH), ...FILE },
    query: {
      ...rangeQuery({ daysMax }),
      ...(ofPackage && PACKAGE_QUERY),
    },
    answers: {
      200: {
        description: "One row an event",
        schema: EVENT_ROW,
        example: EXAMPLE,
        types: Object.values(MEDIA_TYPES),
        headers: {
          ...EXPORT_HEADERS,
          "Content-Disposition": {
            schema: { type: "string" },
            required: true,
            description: "The file name of the path, without what is unsafe in one",
          },
        },
      },
    },
    problems: [
      ...(ofPackage ? PACKAGE_PROBLEMS : []),
      "not-found",
      "export-not-granted",
      "invalid-date",
      "empty-range",
      "range-too-long",
      "no-longer-kept",
    ],
  };
}
