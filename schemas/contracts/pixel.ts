import { TIMESTAMP } from "../formats.js";
import { compileBody } from "../validate.js";

/** A pixel, as returned. */
export interface PixelRecord {
  id: string;
  owner: string;
  name: string;
  package_id?: string;
  created_at: string;
  updated_at: string;
}

/** A pixel, as sent on create and update. */
export interface PixelUpsert {
  name: string;
  /** Id or name. */
  package_id?: string | null;
}

export const PIXEL = {
  title: "Pixel",
  type: "object",
  required: ["id", "owner", "name", "created_at", "updated_at"],
  additionalProperties: false,
  properties: {
    id: { type: "string", format: "uuid" },
    owner: { type: "string" },
    name: { type: "string" },
    package_id: { type: "string", format: "uuid" },
    created_at: TIMESTAMP,
    updated_at: TIMESTAMP,
  },
} as const;

export const PIXEL_UPSERT = {
  title: "PixelUpsert",
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { type: "string", format: "line", minLength: 1, maxLength: 256 },
    package_id: {
      type: ["string", "null"],
      minLength: 1,
      maxLength: 256,
      description: "Id or name of a package of the same owner",
    },
  },
} as const;

/** Throws `invalid-body` naming every fault. */
export const parsePixelUpsert = compileBody<PixelUpsert>(PIXEL_UPSERT);
