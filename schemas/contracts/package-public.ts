import { compileBody } from "../validate.js";

/** How much of a package everybody may see: nothing, one number on a badge, or a page with its numbers as well. */
export const PUBLIC_KINDS = ["none", "badge", "page"] as const;
export type PublicKind = (typeof PUBLIC_KINDS)[number];

/** As sent and as returned. */
export interface PackagePublic {
  public: PublicKind;
}

export const PACKAGE_PUBLIC = {
  title: "PackagePublic",
  type: "object",
  required: ["public"],
  additionalProperties: false,
  properties: { public: { type: "string", enum: PUBLIC_KINDS } },
} as const;

/** Throws `invalid-body` naming every fault. */
export const parsePackagePublic = compileBody<PackagePublic>(PACKAGE_PUBLIC);
