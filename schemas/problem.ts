import { objectOf, titledObject } from "./formats.js";
/** Every error code of the API with its status. Codes are wire values; messages are sentences for people. */
const STATUS_BY_CODE = {
  "malformed-json": 400,
  "malformed-request": 400,
  "invalid-date": 400,
  "invalid-query": 400,
  unauthenticated: 401,
  forbidden: 403,
  "out-of-scope": 403,
  "export-not-granted": 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "request-timeout": 408,
  "no-longer-kept": 410,
  "too-large": 413,
  "unsupported-encoding": 415,
  "already-exists": 409,
  "ambiguous-name": 409,
  "already-finished": 409,
  "import-in-progress": 409,
  "delivery-in-progress": 409,
  "webhook-disabled": 409,
  "source-disabled": 409,
  "no-confirmation-needed": 409,
  "precondition-failed": 412,
  "invalid-body": 422,
  "not-ndjson": 422,
  "library-type-is-immutable": 422,
  "not-a-file-package": 422,
  "not-a-docker-package": 422,
  "not-a-python-package": 422,
  "cannot-remove-last-owner": 422,
  "domain-is-already-in-use": 422,
  "route-conflicts": 422,
  "range-too-long": 422,
  "empty-range": 422,
  "too-many-active-imports": 422,
  "too-many-domains": 422,
  "too-many-organizations": 422,
  "too-many-packages": 422,
  "too-many-pixels": 422,
  "too-many-erasures": 422,
  "too-many-routes": 422,
  "too-many-sources": 422,
  "too-many-annotations": 422,
  "too-many-tokens": 422,
  "too-many-webhooks": 422,
  "too-many-notifications": 422,
  "email-not-configured": 422,
  "unknown-name": 422,
  "unknown-user": 422,
  "idempotency-key-reused": 422,
  "webhook-url-not-allowed": 422,
  "rate-limited": 429,
  "internal-error": 500,
  "headers-too-large": 431,
  unavailable: 503,
} as const;

export type ProblemCode = keyof typeof STATUS_BY_CODE;

export const PROBLEM_CODES = Object.keys(STATUS_BY_CODE) as ProblemCode[];

export function statusOf(code: ProblemCode): number {
  return STATUS_BY_CODE[code];
}

export interface FieldFault {
  path: string;
  message: string;
}

export interface ProblemDetails {
  errors?: FieldFault[];
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** An error of the caller, or an unavailable store. One middleware renders it as `{code, message, errors?}`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: FieldFault[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "Problem";
    this.code = code;
    this.errors = details.errors;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }

  get status(): number {
    return statusOf(this.code);
  }
}

export const PROBLEM = titledObject("Problem", ["code", "message"], {
  code: { type: "string", description: "Machine-readable error code" },
  message: { type: "string", description: "Human-readable error message" },
  errors: {
    type: "array",
    items: objectOf(["path", "message"], {
      path: { type: "string", description: "JSON pointer to the field in the body" },
      message: { type: "string" },
    }),
  },
});

/** Codes of Node's errors for a server that cannot be reached, or not any more. */
export const NETWORK_CODES = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
] as const;
