import { PACKAGE_V1, type PackageV1 } from "./package.js";

/** A package, and what its reader may do with it. */
export interface PackageAccess {
  package: PackageV1;
  /** Its record, routes, domains and permissions. */
  may_change: boolean;
  may_import: boolean;
  /** Its events, and its statistics as CSV. */
  may_export: boolean;
}

const RIGHT = { type: "boolean" } as const;

export const PACKAGE_ACCESS = {
  title: "PackageAccess",
  type: "object",
  required: ["package", "may_change", "may_import", "may_export"],
  additionalProperties: false,
  properties: {
    package: PACKAGE_V1,
    may_change: { ...RIGHT, description: "Its record, routes, domains and permissions" },
    may_import: RIGHT,
    may_export: {
      ...RIGHT,
      description:
        "Its events, and its statistics as CSV. False also where export is not granted to its owner",
    },
  },
} as const;
