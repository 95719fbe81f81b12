import { readFileSync } from "node:fs";
import { assetUrl } from "../../schemas/asset.js";

/** The name and version of this program, from `package.json`. */
export const PRODUCT = JSON.parse(readFileSync(assetUrl("package.json"), "utf8")) as { version: string };
