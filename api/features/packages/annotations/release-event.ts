import { Ajv, type ValidateFunction } from "ajv";
import { ANNOTATION_TEXT_MAX, ANNOTATION_URL_MAX } from "../../../../schemas/contracts/annotation.js";
import { isCalendarDate, isHttpUrl } from "../../../../schemas/formats.js";

export interface Release {
  date: string;
  text: string;
  url: string | undefined;
  /** The same from the event and from a source of the repository. */
  key: string;
}

interface ReleaseEvent {
  action: string;
  release: {
    tag_name: string;
    name?: string | null;
    html_url: string;
    published_at: string;
    draft?: boolean;
  };
  repository: { full_name: string };
}

const TEXT = { type: "string", minLength: 1, maxLength: 1_000 } as const;
const fields = (required: readonly string[], properties: object) => ({
  type: "object",
  required,
  properties,
});
const SCHEMA = fields(["action", "release", "repository"], {
  action: { const: "published" },
  release: fields(["tag_name", "html_url", "published_at"], {
    tag_name: TEXT,
    name: { type: ["string", "null"] },
    html_url: { type: "string", maxLength: 10_000 },
    published_at: { type: "string", pattern: "^20\\d\\d-\\d\\d-\\d\\dT" },
    draft: { type: "boolean" },
  }),
  repository: fields(["full_name"], { full_name: TEXT }),
});
/** Compiled for the first event. */
let compiled: ValidateFunction<ReleaseEvent> | undefined;

/**
 * Reads GitHub's event `release`; undefined for all but published releases. Source:
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#release
 */
export function readReleaseEvent(event: unknown): Release | undefined {
  const isReleaseEvent = (compiled ??= new Ajv({ strict: true, allowUnionTypes: true }).compile<ReleaseEvent>(
    SCHEMA,
  ));
  if (!isReleaseEvent(event) || event.release.draft === true) return undefined;
  const { tag_name: tag, name, html_url: url, published_at: at } = event.release;
  if (!isCalendarDate(at.slice(0, 10))) return undefined;
  return {
    date: at.slice(0, 10),
    text: lineOf(name) || lineOf(tag) || "Release",
    url: url.length <= ANNOTATION_URL_MAX && isHttpUrl(url) ? url : undefined,
    key: githubRelease(event.repository.full_name, tag),
  };
}

export function githubRelease(repository: string, tag: string): string {
  return `github ${repository.toLowerCase()} ${tag}`.replace(/[\0\p{Surrogate}]/gu, "\uFFFD");
}

/** Of a text only so much is looked at. */
const TEXT_LOOKED_AT = 1_000;

/** One line as annotations have it. */
function lineOf(text: string | null | undefined): string {
  const line = (text ?? "")
    .slice(0, TEXT_LOOKED_AT)
    .replace(/[\p{Cc}\p{Surrogate}\u2028\u2029]+/gu, " ")
    .trim();
  return Array.from(line).slice(0, ANNOTATION_TEXT_MAX).join("").trim();
}
