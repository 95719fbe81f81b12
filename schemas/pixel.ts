import { compileBody } from "./validate.js";

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
  package_id?: string | null;
}

const PIXEL_UPSERT = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { type: "string", format: "line", minLength: 1, maxLength: 256 },
    package_id: { type: ["string", "null"], format: "uuid" },
  },
} as const;

/** Throws `invalid-body` naming every fault. */
export const parsePixelUpsert = compileBody<PixelUpsert>(PIXEL_UPSERT);
