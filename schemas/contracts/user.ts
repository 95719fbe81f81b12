import type { FromSchema } from "json-schema-to-ts";
import { isTime, TIMESTAMP, objectOf, titledObject } from "../formats.js";
import type { FieldFault } from "../problem.js";
import { compileBody } from "../validate.js";

/** The scopes that can limit an additional token. */
export const SCOPES = ["read", "import", "export", "manage"] as const;
export type Scope = (typeof SCOPES)[number];

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
  owner: { type: "string", description: "The only user or organization that the token can be used for" },
  expiresAt: TIMESTAMP,
} as const;

const LISTED_FIELDS = {
  ...API_TOKEN_FIELDS,
  createdAt: TIMESTAMP,
  lastUsedAt: { ...TIMESTAMP, description: "Time of the last use, accurate to the minute" },
};

export const API_TOKEN_V1 = titledObject("ApiTokenV1", ["id", "name", "scopes", "createdAt"], LISTED_FIELDS);
export type ApiTokenV1 = FromSchema<typeof API_TOKEN_V1>;

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
export type ApiTokenCreate = FromSchema<typeof API_TOKEN_CREATE>;

export const parseApiTokenCreate = compileBody<ApiTokenCreate>(API_TOKEN_CREATE, expiryFaults);

function expiryFaults({ expiresAt }: Partial<ApiTokenCreate>): FieldFault[] {
  if (expiresAt === undefined || expiresAt === null) return [];
  if (isTime(expiresAt) && Date.parse(expiresAt) > Date.now()) return [];
  const message = isTime(expiresAt)
    ? "must be in the future"
    : "must be an ISO 8601 time with its zone, such as 2030-01-31T12:00:00Z";
  return [{ path: "/expiresAt", message }];
}

const ORGANIZATION = objectOf(["name", "role", "exportEnabled"], {
  name: { type: "string" },
  role: { type: "string", enum: ["member", "admin", "owner"] },
  exportEnabled: { type: "boolean" },
});
export type UserOrganization = FromSchema<typeof ORGANIZATION>;

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
    token: {
      type: "string",
      description: "Your account's API token. Returned only if it was used for the request",
    },
    tokenInUse: { ...TOKEN_IN_USE, description: "The access token that was used for the request, if any" },
  },
);
export type UserV1 = FromSchema<typeof USER_V1>;

export const NEW_TOKEN_V1 = titledObject("NewTokenV1", ["token"], { token: { type: "string" } });
