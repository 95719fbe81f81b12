import { PROBLEM, statusOf, type ProblemCode } from "../../../schemas/problem.js";
import { ACTIONS, type Action } from "../../access/resources.js";
import type { Operation } from "../operation.js";
import type { DescribedRoute } from "./described-route.js";
import type { Components, DocumentObject } from "./components.js";
import { describeHeader, REQUEST_ID } from "./describe-answers.js";
import { parametersOf, wordedPaths } from "./path-template.js";
import { PROBLEM_SENTENCES } from "./problem-sentences.js";

/** The error answers of an operation by status, each with its possible codes. */
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
export function problemsOf({
  action,
  path,
  operation,
}: DescribedRoute & { operation: Operation }): ProblemCode[] {
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

const ALWAYS = ["malformed-request", "headers-too-large", "internal-error"] as const;
const WITH_TOKEN = [
  "invalid-query",
  "unauthenticated",
  "out-of-scope",
  "rate-limited",
  "unavailable",
] as const;
const WITH_BODY = ["request-timeout", "too-large", "unsupported-encoding", "invalid-body"] as const;

function describe(
  { status, codes }: { status: number; codes: readonly ProblemCode[] },
  components: Components,
): DocumentObject {
  const examples = codes.map((code) => [code, { value: exampleOf(code) }] as const);
  const headers = {
    "X-Request-Id": describeHeader("X-Request-Id", REQUEST_ID, components),
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
