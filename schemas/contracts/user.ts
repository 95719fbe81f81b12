import { API_TOKEN_FIELDS, type ApiTokenV1 } from "./api-token.js";
import { TIMESTAMP } from "../formats.js";

/** The caller, as returned to themselves. */
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

const ORGANIZATION = {
  type: "object",
  required: ["name", "role", "exportEnabled"],
  additionalProperties: false,
  properties: {
    name: { type: "string" },
    role: { type: "string", enum: ["member", "admin", "owner"] },
    exportEnabled: { type: "boolean" },
  },
} as const;

const TOKEN_IN_USE = {
  type: "object",
  required: ["id", "name", "scopes"],
  additionalProperties: false,
  properties: API_TOKEN_FIELDS,
} as const;

export const USER_V1 = {
  title: "UserV1",
  type: "object",
  required: ["username", "email", "createdAt", "exportEnabled", "organizations"],
  additionalProperties: false,
  properties: {
    username: { type: "string" },
    email: { type: "string" },
    createdAt: TIMESTAMP,
    exportEnabled: { type: "boolean" },
    organizations: { type: "array", items: ORGANIZATION },
    token: { type: "string" },
    tokenInUse: TOKEN_IN_USE,
  },
} as const;

export const NEW_TOKEN_V1 = {
  title: "NewTokenV1",
  type: "object",
  required: ["token"],
  additionalProperties: false,
  properties: { token: { type: "string" } },
} as const;
