import { TIMESTAMP, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";

export interface PixelRecord {
  id: string;
  owner: string;
  name: string;
  package_id?: string;
  created_at: string;
  updated_at: string;
}

export interface PixelUpsert {
  name: string;
  /** Id or name. */
  package_id?: string | null;
}

export const PIXEL = titledObject("Pixel", ["id", "owner", "name", "created_at", "updated_at"], {
  id: { type: "string", format: "uuid" },
  owner: { type: "string" },
  name: { type: "string" },
  package_id: { type: "string", format: "uuid" },
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
});

export const PIXEL_UPSERT = titledObject("PixelUpsert", ["name"], {
  name: { type: "string", format: "line", minLength: 1, maxLength: 256 },
  package_id: {
    type: ["string", "null"],
    minLength: 1,
    maxLength: 256,
    description: "Id or name of a package of the same owner",
  },
});

export const parsePixelUpsert = compileBody<PixelUpsert>(PIXEL_UPSERT);
