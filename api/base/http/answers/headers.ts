import { createHash } from "node:crypto";
import { Problem } from "../../../../schemas/problem.js";
import type { ApiContext } from "../route.js";
import { type ExportFormat, MEDIA_TYPES } from "../../../../schemas/contracts/aggregate.js";

/** A strong ETag (RFC 9110, 8.8.3). */
export function entityTag(state: object): string {
  return bytesTag(JSON.stringify(state));
}

export function bytesTag(bytes: Buffer | string): string {
  return `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;
}

/** Different bytes need another tag (RFC 9110, 8.8.3.3). `requireMatch` accepts the tag of any encoding. */
export function encodedTag(tag: string, encoding: string): string {
  return encoding === "identity" ? tag : tag.replace(/"$/, `-${encoding}"`);
}

function withoutEncoding(tag: string): string {
  return tag.replace(/^("[A-Za-z0-9_-]{27})-(?:gzip|br)"$/, '$1"');
}

/** Call it after the record is locked. Throws `precondition-failed`. */
export function requireMatch(ctx: ApiContext, current: string): void {
  const wanted = ctx.get("If-Match");
  if (wanted === "" || wanted.trim() === "*") return;
  const tags = wanted.split(",").map((tag) => withoutEncoding(tag.trim()));
  if (tags.includes(current)) return;
  throw changedMeanwhile();
}

export function changedMeanwhile(): Problem {
  return new Problem(
    "precondition-failed",
    "The record has changed since you read it. Read it again and retry.",
  );
}

/** As `requireMatch`, but reads the state only if the request has `If-Match`. */
export async function requireMatchOf(ctx: ApiContext, read: () => Promise<object>): Promise<void> {
  if (ctx.get("If-Match") !== "") requireMatch(ctx, entityTag(await read()));
}

export function answerRecord(ctx: ApiContext, record: object): void {
  ctx.set("ETag", entityTag(record));
  ctx.body = record;
}

export function putLocation(ctx: ApiContext, path: string): void {
  ctx.set("Location", `${ctx.state.publicBase}${path}`);
}

/** Which of these formats `Accept` rates highest; NDJSON if `Accept` is absent or names none of them. */
export function negotiateFormat<Format extends ExportFormat>(
  ctx: ApiContext,
  formats: readonly Format[],
): Format | "ndjson" {
  ctx.vary("Accept");
  const type = ctx.accepts(formats.map((format) => MEDIA_TYPES[format]));
  return formats.find((format) => MEDIA_TYPES[format] === type) ?? "ndjson";
}
