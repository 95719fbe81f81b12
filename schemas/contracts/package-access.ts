import type { FromSchema } from "json-schema-to-ts";
import { titledObject } from "../formats.js";
import { AUTOMATED } from "./statistics.js";
import { PACKAGE_V1 } from "./package.js";
import { compileBody } from "../validate.js";

const RIGHT = { type: "boolean" } as const;

export const PACKAGE_ACCESS = titledObject(
  "PackageAccess",
  ["package", "may_change", "may_import", "may_export"],
  {
    package: PACKAGE_V1,
    may_change: {
      ...RIGHT,
      description: "Whether you can change the package, its routes, domains and permissions",
    },
    may_import: RIGHT,
    may_export: {
      ...RIGHT,
      description:
        "Whether you can export events, and statistics as CSV. False if export is not enabled for the owner",
    },
  },
);
/** A package, and what its reader may do with it. */
export type PackageAccess = FromSchema<typeof PACKAGE_ACCESS>;

/** How much of a package everybody may see: nothing, one number on a badge, or a page with its numbers as well. */
export const PUBLIC_KINDS = ["none", "badge", "page"] as const;
export type PublicKind = (typeof PUBLIC_KINDS)[number];

const PUBLIC_SETTINGS = {
  public: { type: "string", enum: PUBLIC_KINDS },
  automated: {
    type: "string",
    enum: AUTOMATED,
    default: "include",
    description: "Whether downloads by bots, continuous integration and mirrors are counted",
  },
} as const;
export const PACKAGE_PUBLIC = titledObject("PackagePublic", ["public", "automated"], PUBLIC_SETTINGS);
export type PackagePublic = FromSchema<typeof PACKAGE_PUBLIC>;
export const PACKAGE_PUBLIC_SET = titledObject("PackagePublicSet", ["public"], PUBLIC_SETTINGS);

const parseSet = compileBody<Pick<PackagePublic, "public"> & Partial<PackagePublic>>(PACKAGE_PUBLIC_SET);

export function parsePackagePublic(body: unknown): PackagePublic {
  const { public: kind, automated = "include" } = parseSet(body);
  return { public: kind, automated };
}

export const PERMISSION_LEVELS = ["blocked", "default", "member", "admin"] as const;
export type PermissionLevel = (typeof PERMISSION_LEVELS)[number];

export const PACKAGE_PERMISSION_LEVEL = {
  title: "PackagePermissionLevelV1",
  type: "string",
  enum: PERMISSION_LEVELS,
} as const;

export const PACKAGE_PERMISSION_GET = titledObject(
  "PackagePermissionGetV1",
  ["username", "permissionLevel"],
  { username: { type: "string" }, permissionLevel: PACKAGE_PERMISSION_LEVEL },
);
export type PackagePermissionV1 = FromSchema<typeof PACKAGE_PERMISSION_GET>;

export const PACKAGE_PERMISSION_SET = titledObject(
  "PackagePermissionSetV1",
  ["userQuery", "permissionLevel"],
  {
    userQuery: {
      type: "string",
      format: "line",
      minLength: 1,
      maxLength: 254,
      description: "An email address if it contains `@`, otherwise a username",
    },
    permissionLevel: PACKAGE_PERMISSION_LEVEL,
  },
);
export type PackagePermissionSet = FromSchema<typeof PACKAGE_PERMISSION_SET>;

export const PERMISSIONS_MAX = 1000;

const PACKAGE_PERMISSION_SETS = {
  type: "array",
  maxItems: PERMISSIONS_MAX,
  items: PACKAGE_PERMISSION_SET,
} as const;

export const PACKAGE_PERMISSIONS_SET = { oneOf: [PACKAGE_PERMISSION_SET, PACKAGE_PERMISSION_SETS] } as const;

/** One permission of the body, with its position: a JSON pointer. */
export interface PermissionWanted extends PackagePermissionSet {
  at: string;
}

export function parsePackagePermissionsSet(body: unknown): PermissionWanted[] {
  if (!Array.isArray(body)) return [{ ...parseOne(body), at: "" }];
  return parseSeveral(body).map((each, index) => ({ ...each, at: `/${index}` }));
}

const parseOne = compileBody<PackagePermissionSet>(PACKAGE_PERMISSION_SET);
const parseSeveral = compileBody<PackagePermissionSet[]>(PACKAGE_PERMISSION_SETS);
