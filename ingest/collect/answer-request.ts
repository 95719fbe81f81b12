import { answerFileRoute } from "./answer-file-route.js";
import { answerPixel, PIXEL_PATH } from "./answer-pixel.js";
import { NOTHING, type CollectAnswer, type CollectRequest } from "./collect-answer.js";
import type { Site, Sites } from "./sites.js";

/** What a request was for; `none` where nothing here answers to it. */
export const COLLECT_KINDS = ["pixel", "file", "docker", "python", "npm", "none"] as const;
export type CollectKind = (typeof COLLECT_KINDS)[number];

export interface Collecting {
  sites: Sites;
  /** The only host name that serves pixels and npm reports; any that is no package's when absent. */
  publicHost?: string;
}

export interface KindOfAnswer {
  kind: CollectKind;
  answer: CollectAnswer | Promise<CollectAnswer>;
}

/** Finds who answers: the host decides, and of hosts that are no package's the path. */
export function answerRequest(request: CollectRequest, { sites, publicHost }: Collecting): KindOfAnswer {
  const site = sites.of(request.host);
  if (site !== undefined) return { kind: site.kind, answer: answerSite(request, site) };
  if (publicHost !== undefined && request.host !== publicHost) return UNKNOWN;
  switch (request.path) {
    case PIXEL_PATH:
      return { kind: "pixel", answer: answerPixel(request, sites.pixels) };
    default:
      return UNKNOWN;
  }
}

const UNKNOWN: KindOfAnswer = { kind: "none", answer: NOTHING };

function answerSite(request: CollectRequest, site: Site): CollectAnswer | Promise<CollectAnswer> {
  switch (site.kind) {
    case "file":
      return answerFileRoute(request, site);
    case "docker":
    case "python":
      return NOTHING;
  }
}
