import { readFileSync } from "node:fs";
import { assetUrl } from "../../../schemas/asset.js";

/** As people read it, such as at the beginning of a mail's subject. */
export const PRODUCT_NAME = "Maintainer Toolchain";

export const PRODUCT = JSON.parse(readFileSync(assetUrl("package.json"), "utf8")) as { version: string };
