import {
  methodNotAllowed,
  type CollectAnswer,
  type CollectRequest,
  type LiveEvent,
} from "./read-collect-request.js";
import type { Pixels } from "./sites.js";

/** The path of pixels on every host that is no package's domain. */
export const PIXEL_PATH = "/a.png";

/** 1 × 1, transparent. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=",
  "base64",
);

const HEADERS = {
  "Content-Type": "image/png",
  "Cache-Control": "no-cache, no-store, must-revalidate",
  // Any page may show it, also a cross-origin isolated one.
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Access-Control-Allow-Origin": "*",
} as const;

/** Answers the image for any id, because a page must not break when its pixel is deleted. */
export function answerPixel(request: CollectRequest, pixels: Pixels): CollectAnswer {
  if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET", "HEAD");
  const events = request.method === "GET" ? eventsOf(request, pixels) : [];
  return { status: 200, headers: HEADERS, body: PNG, events };
}

function eventsOf({ query }: CollectRequest, pixels: Pixels): LiveEvent[] {
  const parameters = new URLSearchParams(query);
  const id = parameters.get("x-pxid")?.toLowerCase() ?? "";
  const ownerId = pixels.ownerOf(id);
  if (ownerId === undefined) return [];
  const page = parameters.get("page") ?? "";
  return [
    {
      ownerId,
      artifact: { kind: "pixel", id },
      referrer: page === "" ? undefined : page,
      variables: NO_VARIABLES,
    },
  ];
}

const NO_VARIABLES: ReadonlyMap<string, string> = new Map();
