import { readFile } from "node:fs/promises";
import { assetUrl } from "../../schemas/asset.js";

const texts = new Map<string, Promise<string>>();

/** A query of `aggregate/queries`, by name; read once. */
export function readQuery(name: string): Promise<string> {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = readFile(assetUrl(`aggregate/queries/${name}.sql`), "utf8");
  texts.set(name, text);
  return text;
}
