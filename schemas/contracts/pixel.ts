import type { FromSchema } from "json-schema-to-ts";
import { TIMESTAMP, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";

export const PIXEL = titledObject("Pixel", ["id", "owner", "name", "created_at", "updated_at"], {
  id: { type: "string", format: "uuid" },
  owner: { type: "string" },
  name: { type: "string" },
  package_id: { type: "string", format: "uuid" },
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
});
export type PixelRecord = FromSchema<typeof PIXEL>;

export const PIXEL_UPSERT = titledObject("PixelUpsert", ["name"], {
  name: { type: "string", format: "line", minLength: 1, maxLength: 256 },
  package_id: {
    type: ["string", "null"],
    minLength: 1,
    maxLength: 256,
    description: "Id or name of a package of the same owner",
  },
});
export type PixelUpsert = FromSchema<typeof PIXEL_UPSERT>;

export const parsePixelUpsert = compileBody<PixelUpsert>(PIXEL_UPSERT);
