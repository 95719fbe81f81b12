import { answerDocker } from "./answer-docker.js";
import { answerFileRoute } from "./answer-file-route.js";
import { answerNpmReport, NPM_REPORT_PATH } from "./answer-npm-report.js";
import { answerPixel, PIXEL_PATH } from "./answer-pixel.js";
import { answerPython } from "./answer-python.js";
import { NOTHING, type CollectAnswer, type CollectRequest } from "./collect-answer.js";
import type { PythonIndex } from "./python-index.js";
import type { Site, Sites } from "./sites.js";

/** What a request was for; `none` where nothing here answers to it. */
export const COLLECT_KINDS = ["pixel", "file", "docker", "python", "npm", "none"] as const;
export type CollectKind = (typeof COLLECT_KINDS)[number];

export interface Collecting {
  sites: Sites;
  pythonIndex: PythonIndex;
  /** The only host name that serves pixels and npm reports; any that is no package's when absent. */
  publicHost?: string;
}

export interface KindOfAnswer {
  kind: CollectKind;
  answer: CollectAnswer | Promise<CollectAnswer>;
}

/** Finds who answers: the host decides, and of hosts that are no package's the path. */
export function answerRequest(request: CollectRequest, collecting: Collecting): KindOfAnswer {
  const { sites, publicHost } = collecting;
  const site = siteOf(request, collecting);
  if (site !== undefined) return { kind: site.kind, answer: answerSite(request, { site, ...collecting }) };
  if (publicHost !== undefined && request.host !== publicHost) return UNKNOWN;
  switch (request.path) {
    case PIXEL_PATH:
      return { kind: "pixel", answer: answerPixel(request, sites.pixels) };
    case NPM_REPORT_PATH:
      return { kind: "npm", answer: answerNpmReport(request, sites.npm) };
    default:
      return UNKNOWN;
  }
}

/** The package that a request is for. The public host is nobody's: anyone with an account could claim it. */
export function siteOf(
  { host }: Pick<CollectRequest, "host">,
  { sites, publicHost }: Pick<Collecting, "sites" | "publicHost">,
): Site | undefined {
  return host === publicHost ? undefined : sites.of(host);
}

const UNKNOWN: KindOfAnswer = { kind: "none", answer: NOTHING };

function answerSite(
  request: CollectRequest,
  { site, pythonIndex }: { site: Site; pythonIndex: PythonIndex },
): CollectAnswer | Promise<CollectAnswer> {
  switch (site.kind) {
    case "file":
      return answerFileRoute(request, site);
    case "docker":
      return answerDocker(request, site);
    case "python":
      return answerPython(request, site, pythonIndex);
  }
}
