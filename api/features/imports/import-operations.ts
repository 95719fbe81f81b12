import type { ProblemCode } from "../../../schemas/problem.js";
import { IMPORT_LINE } from "../../../schemas/records/import-line.js";
import { FILE_NAME_MAX, isFileName } from "../../../schemas/records/file-name.js";
import { DRY_RUN, EVENT_IMPORT } from "../../../schemas/records/import-store.js";
import type { Parameter, Parameters } from "../../base/http/answers/query-parameters.js";
import type { Operation } from "../../base/http/route.js";
import { LINE_FORMAT_QUERY } from "./asked-format.js";

const TIME = "2026-08-04T13:58:26.021037Z";

export const IMPORT_EXAMPLE = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  owner: "acme",
  status: "done",
  created_at: TIME,
  updated_at: TIME,
  events_total: 2,
  events_successfully_imported: 1,
  events_failed_to_import: 1,
  events_with_warnings: 0,
  error_log_sample: [
    {
      class: "error",
      type: "failed-to-decode",
      human_friendly_message: "Not a valid JSON object",
      line: 2,
    },
  ],
  warning_log_sample: [],
  package: { id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27", name: "tools" },
  pixel: null,
  started_by: "ada",
  started_with_token: "nightly",
  bytes: 104,
  bytes_unpacked: 104,
  lines_received: 2,
  lines_skipped: 0,
  finished_at: TIME,
  name: "access-2026-08.log",
};

export const ID: Parameter = { schema: { type: "string", format: "uuid" }, description: "Id of the import" };

export const START_QUERY = {
  ...LINE_FORMAT_QUERY,
  name: {
    schema: { type: "string", minLength: 1, maxLength: FILE_NAME_MAX },
    description: "Name of the file, shown in the list of imports",
    example: "access-2026-08.log",
    sentence: `must be a single line of at most ${FILE_NAME_MAX} characters`,
    allows: isFileName,
  },
  dryRun: {
    schema: { type: "boolean", default: false },
    description:
      "Validate and count the lines without importing them. At most a million lines and ten minutes",
  },
} as const satisfies Parameters;

export function startOperation<Query extends Parameters>({
  id,
  summary,
  query,
  problems = [],
}: Pick<Operation<Query>, "id" | "summary" | "problems"> & { query: Query }): Operation<Query> {
  return {
    id,
    tag: "Imports",
    summary,
    description: DESCRIPTION,
    query,
    headers: {
      "Idempotency-Key": {
        schema: { type: "string", maxLength: 255 },
        description:
          "A second request with the same key within 24 hours returns the first import instead of " +
          "importing again",
      },
      "Content-Encoding": {
        schema: { type: "string", enum: ["gzip", "identity"] },
        description: "Compression of the body",
      },
    },
    body: {
      description: "One event per line. The schema describes a line of NDJSON, the default format",
      schema: IMPORT_LINE,
      example: LINE_EXAMPLE,
      types: ["application/ndjson", "application/x-ndjson", "application/json", "text/plain", "text/csv"],
    },
    answers: {
      200: {
        description: "The import. Its body is durably stored. For a dry run: the expected result",
        schema: { anyOf: [EVENT_IMPORT, DRY_RUN] },
        example: { ...IMPORT_EXAMPLE, status: "importing", finished_at: null },
      },
    },
    problems: [...problems, ...START_PROBLEMS],
  };
}

const DESCRIPTION =
  "Responds once every line is in the event log. If the upload is interrupted, or you lose the " +
  "permission to import during the upload, the import is aborted and its events are not exported. An owner can " +
  "have 15 running imports, including uploads that have only sent their headers. If too many of an " +
  "owner's lines are waiting for enrichment, its uploads wait for up to two minutes. With `Expect: " +
  "100-continue`, the server requests the body once the import has started.";

const LINE_EXAMPLE = {
  $time: "2026-11-01T08:00:00Z",
  $unique_id: "pull-1",
  $remote_address: "18.66.22.4",
  $user_agent: "docker/27.3.1 go/go1.22.7 os/linux arch/amd64",
  $version: "1.4.0",
};

const START_PROBLEMS: readonly ProblemCode[] = [
  "not-ndjson",
  "invalid-body",
  "too-many-active-imports",
  "idempotency-key-reused",
  "import-in-progress",
  "already-finished",
];
