import { isTime, TIMESTAMP, objectOf, titledObject } from "../formats.js";
import type { FieldFault } from "../problem.js";
import { compileBody } from "../validate.js";

/** The scopes that can limit an additional token. */
export const SCOPES = ["read", "import", "export", "manage"] as const;
export type Scope = (typeof SCOPES)[number];

export interface ApiTokenV1 {
  id: string;
  name: string;
  scopes: Scope[];
  /** The only user or organization on which the token may be used. */
  owner?: string;
  expiresAt?: string;
  createdAt: string;
  /** To the minute. */
  lastUsedAt?: string;
}

export interface ApiTokenCreate {
  name: string;
  scopes: Scope[];
  owner?: string | null;
  expiresAt?: string | null;
}

const SCOPE_LIST = {
  type: "array",
  minItems: 1,
  uniqueItems: true,
  items: { type: "string", enum: SCOPES },
} as const;

export const API_TOKEN_FIELDS = {
  id: { type: "string", format: "uuid" },
  name: { type: "string" },
  scopes: SCOPE_LIST,
  owner: { type: "string" },
  expiresAt: TIMESTAMP,
} as const;

const LISTED_FIELDS = { ...API_TOKEN_FIELDS, createdAt: TIMESTAMP, lastUsedAt: TIMESTAMP };

export const API_TOKEN_V1 = titledObject("ApiTokenV1", ["id", "name", "scopes", "createdAt"], LISTED_FIELDS);

/** Only the answer to the creation contains the token itself. */
export const CREATED_API_TOKEN_V1 = titledObject("CreatedApiTokenV1", [...API_TOKEN_V1.required, "token"], {
  ...LISTED_FIELDS,
  token: { type: "string" },
});

export const API_TOKEN_CREATE = titledObject("ApiTokenCreateV1", ["name", "scopes"], {
  name: { type: "string", format: "line", minLength: 1, maxLength: 100 },
  scopes: SCOPE_LIST,
  owner: { type: ["string", "null"], format: "text", maxLength: 64 },
  expiresAt: { type: ["string", "null"], maxLength: 40, examples: ["2030-01-31T12:00:00Z"] },
});

export const parseApiTokenCreate = compileBody<ApiTokenCreate>(API_TOKEN_CREATE, expiryFaults);

function expiryFaults({ expiresAt }: Partial<ApiTokenCreate>): FieldFault[] {
  if (expiresAt === undefined || expiresAt === null) return [];
  if (isTime(expiresAt) && Date.parse(expiresAt) > Date.now()) return [];
  const message = isTime(expiresAt)
    ? "must be in the future"
    : "must be an ISO 8601 time with its zone, such as 2030-01-31T12:00:00Z";
  return [{ path: "/expiresAt", message }];
}

export interface UserV1 {
  username: string;
  email: string;
  createdAt: string;
  exportEnabled: boolean;
  organizations: UserOrganization[];
  /** The account's own API token; only in answers to requests with it. */
  token?: string;
  /** The additional token of the request, if any. */
  tokenInUse?: Pick<ApiTokenV1, "id" | "name" | "scopes" | "owner" | "expiresAt">;
}

export interface UserOrganization {
  name: string;
  role: "member" | "admin" | "owner";
  exportEnabled: boolean;
}

const ORGANIZATION = objectOf(["name", "role", "exportEnabled"], {
  name: { type: "string" },
  role: { type: "string", enum: ["member", "admin", "owner"] },
  exportEnabled: { type: "boolean" },
});

const TOKEN_IN_USE = objectOf(["id", "name", "scopes"], API_TOKEN_FIELDS);

export const USER_V1 = titledObject(
  "UserV1",
  ["username", "email", "createdAt", "exportEnabled", "organizations"],
  {
    username: { type: "string" },
    email: { type: "string" },
    createdAt: TIMESTAMP,
    exportEnabled: { type: "boolean" },
    organizations: { type: "array", items: ORGANIZATION },
    token: { type: "string" },
    tokenInUse: TOKEN_IN_USE,
  },
);

export const NEW_TOKEN_V1 = titledObject("NewTokenV1", ["token"], { token: { type: "string" } });
