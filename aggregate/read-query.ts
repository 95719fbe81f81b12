import { readFile } from "node:fs/promises";
import { assetUrl } from "../schemas/asset.js";

const texts = new Map<string, Promise<string>>();

/** The SQL text at a path below `aggregate/`, such as `queries/events/events`; read once. */
export function readQuery(path: string): Promise<string> {
  const known = texts.get(path);
  if (known !== undefined) return known;
  const text = readFile(assetUrl(`aggregate/${path}.sql`), "utf8");
  texts.set(path, text);
  return text;
}
