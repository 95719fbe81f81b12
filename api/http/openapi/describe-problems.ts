import { PROBLEM, type ProblemCode, statusOf } from "../../../schemas/problem.js";
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
  description: "Seconds after which it may be tried again",
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
  "malformed-json": "The body is not valid JSON in UTF-8.",
  "malformed-request": "The request is not valid HTTP.",
  "invalid-date": "startDate must be a calendar date as YYYY-MM-DD.",
  "invalid-query": "per_page must be a whole number from 1 to 1000.",
  unauthenticated: "A valid token is needed: Authorization: Bearer <token>.",
  forbidden: "You may not do that here.",
  "out-of-scope": "The token lacks the scope that this needs.",
  "export-not-granted":
    "Data export is not granted to acme. An operator of this service grants it with: maintainer-toolchain admin grant-export acme",
  "not-found": "There is no such thing, or you may not know of it.",
  "method-not-allowed": "DELETE is not possible here, only GET, HEAD, OPTIONS.",
  "request-timeout": "The body did not come in time.",
  "no-longer-kept": "Events before 2026-08-01 are no longer kept; the aggregates still have these days.",
  "too-large": "The body may have at most 32 KiB.",
  "unsupported-encoding": "A JSON body cannot be sent with Content-Encoding gzip.",
  "already-exists": "The name acme is taken.",
  "ambiguous-name": "Several packages are named web: docker, npm. Say which with packageType.",
  "already-finished": "The import is done; DELETE retracts it.",
  "import-in-progress": "The import is running; abort it first, or with ?retract=true.",
  "delivery-in-progress": "The delivery has not ended yet.",
  "webhook-disabled": "The webhook is disabled, and nothing is sent to it.",
  "source-disabled": "The source is disabled, and its registry is not asked.",
  "precondition-failed": "The record was changed since it was read; read it again.",
  "invalid-body": "The body is not acceptable: name is required.",
  "not-ndjson": "The body is a JSON array: send one object a line.",
  "library-type-is-immutable": "The type of a package cannot change.",
  "not-a-file-package": "Only file packages have routes.",
  "not-a-docker-package": "This is not a docker package.",
  "not-a-python-package": "This is not a Python package.",
  "too-many-domains": "web has as many domains as it may have.",
  "too-many-organizations": "The account made as many organizations as it may make.",
  "too-many-packages": "acme has as many packages as it may have.",
  "too-many-pixels": "acme has as many pixels as it may have.",
  "too-many-erasures": "100 erasures are under way; ask again once some are done.",
  "too-many-routes": "web has as many routes as it may have.",
  "too-many-tokens": "The account has as many tokens as it may have.",
  "too-many-webhooks": "acme has as many webhooks as it may have.",
  "too-many-sources": "acme has as many sources as it may have.",
  "too-many-annotations": "acme has as many annotations as it may have.",
  "too-many-notifications": "acme has as many notifications as it may have.",
  "email-not-configured": "This service sends no mail: its operator has to set SMTP_URL and MAIL_FROM.",
  "unknown-name": "npm has no package left-padd.",
  "cannot-remove-last-owner": "An organization must keep an owner.",
  "domain-is-already-in-use": "The domain downloads.acme.example is in use.",
  "route-conflicts": "Another route matches the same paths.",
  "range-too-long": "The range has 400 days; at most 366 are allowed.",
  "empty-range": "startDate and endDate are equal; endDate is not in the range.",
  "too-many-active-imports": "too many active imports",
  "unknown-user": "There is no user grace.",
  "idempotency-key-reused": "The key was used for another request.",
  "webhook-url-not-allowed": "The URL leads to a private network.",
  "rate-limited": "Too many requests; try again later.",
  "internal-error": "Something went wrong here. The request id names it in the log.",
  "headers-too-large": "The request's headers are too large.",
  unavailable: "A store cannot be reached, or is too busy, at the moment.",
};
