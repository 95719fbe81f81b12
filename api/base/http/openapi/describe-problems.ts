import { PROBLEM, type ProblemCode, statusOf } from "../../../../schemas/problem.js";
import { ACTIONS, type Action } from "../../access/resources.js";
import type { Operation } from "../route.js";
import {
  type Components,
  type DescribedRoute,
  type DocumentObject,
  USUAL_HEADERS,
  describeHeader,
  parametersOf,
  wordedPaths,
} from "./components.js";

export function describeProblems(
  route: DescribedRoute & { operation: Operation },
  components: Components,
): DocumentObject {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of problemsOf(route)) {
    byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  }
  const described = [...byStatus].map(([status, codes]) => {
    const name = codes.map(titled).join("Or");
    return [status, components.response(name, () => describe({ status, codes }, components))] as const;
  });
  return Object.fromEntries(described);
}

/** The operation's own codes and those that follow from its token, parameters or body. Each once, sorted. */
function problemsOf({ action, path, operation }: DescribedRoute & { operation: Operation }): ProblemCode[] {
  const { problems = [], body } = operation;
  const hasParameters = parametersOf(wordedPaths({ path })[0]).length > 0;
  const codes: ProblemCode[] = [
    ...problems,
    ...ALWAYS,
    ...(action === undefined ? [] : WITH_TOKEN),
    ...(action !== undefined && isForbiddenToSome(action) ? (["forbidden"] as const) : []),
    ...(hasParameters ? (["not-found"] as const) : []),
    ...(body === undefined ? [] : WITH_BODY),
    ...(body === undefined || body.types !== undefined ? [] : (["malformed-json"] as const)),
  ];
  return [...new Set(codes)].sort();
}

/** An action that every caller with access may do is never forbidden: for the others the thing is hidden. */
function isForbiddenToSome(action: Action): boolean {
  const { least } = ACTIONS[action];
  return least !== "none" && least !== "member";
}

const ALWAYS = ["malformed-request", "headers-too-large", "rate-limited", "internal-error"] as const;
const WITH_TOKEN = ["invalid-query", "unauthenticated", "out-of-scope", "unavailable"] as const;
const WITH_BODY = ["request-timeout", "too-large", "unsupported-encoding", "invalid-body"] as const;

function describe(
  { status, codes }: { status: number; codes: readonly ProblemCode[] },
  components: Components,
): DocumentObject {
  const examples = codes.map((code) => [code, { value: exampleOf(code) }] as const);
  const headers = {
    ...Object.fromEntries(
      Object.entries(USUAL_HEADERS).map(([name, header]) => [name, describeHeader(name, header, components)]),
    ),
    ...(status === 401 && { "WWW-Authenticate": { required: true, schema: { const: "Bearer" } } }),
    ...([429, 503].includes(status) && { "Retry-After": RETRY_AFTER }),
  };
  return {
    description: codes.map((code) => `\`${code}\``).join(" or "),
    headers,
    content: {
      "application/json": {
        schema: { ...components.schema(PROBLEM), properties: { code: { enum: codes } } },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

const RETRY_AFTER = {
  description: "Seconds to wait before you retry",
  schema: { type: "integer", minimum: 0 },
};

function exampleOf(code: ProblemCode): DocumentObject {
  const errors = code === "invalid-body" && [{ path: "/name", message: "is required" }];
  return { code, message: PROBLEM_SENTENCES[code], ...(errors && { errors }) };
}

/** `already-exists` becomes `AlreadyExists`. */
function titled(code: string): string {
  return code.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const PROBLEM_SENTENCES: Readonly<Record<ProblemCode, string>> = {
  "malformed-json": "The body is not valid UTF-8 encoded JSON.",
  "malformed-request": "The request is not valid HTTP.",
  "invalid-date": "startDate must be a calendar date in the form YYYY-MM-DD.",
  "invalid-query": "per_page must be a whole number from 1 to 1000.",
  unauthenticated: "Send a valid token: Authorization: Bearer <token>.",
  forbidden: "You do not have permission for this operation.",
  "out-of-scope": "The token lacks the required scope.",
  "export-not-granted":
    "Data export is not enabled for acme. An operator of this service can enable it with: " +
    "maintainer-toolchain admin grant-export acme",
  "not-found": "Not found, or you don't have access.",
  "method-not-allowed": "DELETE is not allowed here. Allowed methods: GET, HEAD, OPTIONS.",
  "request-timeout": "The body was not received in time.",
  "no-longer-kept":
    "Events before 2026-08-01 have expired. Use 2026-08-01 or later as startDate. Aggregates still " +
    "cover the earlier days.",
  "too-large": "The body must not be larger than 32 KiB.",
  "unsupported-encoding": "JSON bodies must not be compressed: Content-Encoding gzip is not supported here.",
  "already-exists": "The name acme is taken.",
  "ambiguous-name": "Several packages are named web: docker, npm. Add packageType, or use the id.",
  "already-finished": "The import is done. Use DELETE to retract it.",
  "import-in-progress":
    "The import is still running. Abort it first, or abort it with ?retract=true to remove its events as well.",
  "delivery-in-progress": "The delivery is still in progress and will be retried automatically.",
  "webhook-disabled": "The webhook is disabled. Enable it to deliver events.",
  "source-disabled": "The source is disabled. Enable it to fetch counts.",
  "precondition-failed": "The record has changed since you read it. Read it again and retry.",
  "invalid-body": "The body is invalid: name is required.",
  "not-ndjson": "The body is a JSON array. Send one object per line.",
  "library-type-is-immutable": "The type of a package cannot be changed.",
  "not-a-file-package": "Only file packages have routes.",
  "not-a-docker-package": "This is not a Docker package.",
  "not-a-python-package": "This is not a Python package.",
  "too-many-domains": "web has reached its limit of domains.",
  "too-many-organizations": "The account has reached its limit of organizations.",
  "too-many-packages": "acme has reached its limit of packages.",
  "too-many-pixels": "acme has reached its limit of pixels.",
  "too-many-erasures": "100 erasures are running. Try again when some of them are done.",
  "too-many-routes": "web has reached its limit of routes.",
  "too-many-tokens": "The account has reached its limit of access tokens.",
  "too-many-webhooks": "acme has reached its limit of webhooks.",
  "too-many-sources": "acme has reached its limit of sources.",
  "too-many-annotations": "acme has reached its limit of annotations.",
  "too-many-notifications": "acme has reached its limit of notifications.",
  "email-not-configured": "This service cannot send email. Its operator must set SMTP_URL and MAIL_FROM.",
  "no-confirmation-needed": "ada@acme.example does not need to be confirmed.",
  "unknown-name": "npm has no package named left-padd.",
  "cannot-remove-last-owner": "An organization needs at least one owner.",
  "domain-is-already-in-use": "The domain downloads.acme.example is already in use.",
  "route-conflicts": "Another route matches the same paths.",
  "range-too-long": "The range has 400 days; the maximum is 366.",
  "empty-range":
    "startDate and endDate are equal, so the range is empty: endDate is exclusive. Use a later endDate.",
  "too-many-active-imports": "too many active imports",
  "unknown-user": "The user grace does not exist.",
  "idempotency-key-reused": "This Idempotency-Key was used for another path. Use a new key.",
  "webhook-url-not-allowed": "The URL points to a private network.",
  "rate-limited": "Too many requests. Try again later.",
  "internal-error": "Unexpected error. Quote the request id (X-Request-Id) when you report it.",
  "headers-too-large": "The request's headers are too large.",
  unavailable: "A database is unavailable or too busy. Try again later.",
};
