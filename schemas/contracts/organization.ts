import type { FromSchema } from "json-schema-to-ts";
import { TIMESTAMP, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";

export const ORGANIZATION_V1 = titledObject(
  "OrganizationV1",
  ["name", "description", "billingEmail", "createdAt", "updatedAt"],
  {
    name: { type: "string" },
    description: { type: "string" },
    website: { type: "string" },
    billingEmail: { type: "string" },
    createdAt: TIMESTAMP,
    updatedAt: TIMESTAMP,
  },
);
export type OrganizationV1 = FromSchema<typeof ORGANIZATION_V1>;

export const ORGANIZATION_UPSERT = titledObject(
  "OrganizationUpsertV1",
  ["name", "description", "billingEmail"],
  {
    name: { type: "string", format: "owner-name" },
    description: { type: "string", format: "text", maxLength: 10_000 },
    website: { type: ["string", "null"], format: "website", maxLength: 2048 },
    billingEmail: { type: "string", format: "mailbox", maxLength: 500 },
  },
);
export type OrganizationUpsert = FromSchema<typeof ORGANIZATION_UPSERT>;

export const parseOrganizationUpsert = compileBody<OrganizationUpsert>(ORGANIZATION_UPSERT);

export const ROLES = ["member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const ORGANIZATION_MEMBER_V1 = titledObject(
  "OrganizationMemberV1",
  ["organizationName", "username", "role"],
  {
    organizationName: { type: "string" },
    username: { type: "string" },
    role: { type: "string", enum: ROLES },
  },
);
export type OrganizationMemberV1 = FromSchema<typeof ORGANIZATION_MEMBER_V1>;

/** No pattern: a name that no user can have is an unknown user, not a fault of the body. */
export const ORGANIZATION_MEMBER_UPSERT = titledObject("OrganizationMemberUpsertV1", ["username", "role"], {
  username: { type: "string", format: "line", minLength: 1, maxLength: 254 },
  role: { type: "string", enum: ROLES },
});
export type OrganizationMemberUpsert = FromSchema<typeof ORGANIZATION_MEMBER_UPSERT>;

export const parseOrganizationMemberUpsert =
  compileBody<OrganizationMemberUpsert>(ORGANIZATION_MEMBER_UPSERT);
