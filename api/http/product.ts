import { readFileSync } from "node:fs";
import { assetUrl } from "../../schemas/asset.js";

export const PRODUCT = JSON.parse(readFileSync(assetUrl("package.json"), "utf8")) as { version: string };
