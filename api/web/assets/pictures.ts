import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { assetUrl } from "../../../schemas/asset.js";

/** A picture of the guide. With its size a browser keeps the room for it while it loads. */
export interface Picture {
  /** In addresses. */
  name: string;
  /** From the repository's root. */
  path: string;
  content: Buffer;
  width: number;
  height: number;
}

const PATHS = ["deploy/docs/package.png", "deploy/docs/architecture.svg"];

let read: readonly Picture[] | undefined;

/** Read once: pictures change with the program. */
export function pictures(): readonly Picture[] {
  return (read ??= PATHS.map((path) => {
    const content = readFileSync(assetUrl(path));
    return { name: posix.basename(path), path, content, ...sizeOf(content) };
  }));
}

/** In pixels: the first chunk of a PNG begins with both numbers, and an SVG has both as attributes. */
export function sizeOf(file: Buffer): { width: number; height: number } {
  if (file.subarray(1, 4).toString("latin1") === "PNG")
    return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
  const [, width, height] = /<svg\b[^>]* width="(\d+)" height="(\d+)"/.exec(file.toString("utf8")) ?? [];
  if (width === undefined) throw new Error("a picture of the guide has no size");
  return { width: Number(width), height: Number(height) };
}
