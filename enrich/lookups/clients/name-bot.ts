import type { Product } from "./parse-product.js";

/**
 * The name and version of a robot, from a user agent that is known to be a robot's and begins like a browser's: the
 * first product whose name says so, or the product after `compatible;`, or just "bot".
 */
export function nameBot(userAgent: string): Product {
  const found = NAMED.exec(userAgent) ?? COMPATIBLE.exec(userAgent);
  if (found === null) return { name: "bot" };
  return found[2] === undefined ? { name: found[1]! } : { name: found[1]!, version: found[2] };
}

const VERSION = String.raw`(?:[/ ]v?(\d[\w.]{0,31}))?`;
const NAMED = new RegExp(
  String.raw`(?<![\w./:-])((?:[A-Za-z][\w-]{0,30})?(?:bot|crawler|spider|slurp|headlesschrome)[\w-]{0,20})${VERSION}`,
  "i",
);
const COMPATIBLE = new RegExp(String.raw`compatible; ([A-Za-z][\w.-]{1,40})${VERSION}`);
