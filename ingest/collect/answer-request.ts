import { NOTHING, type CollectAnswer, type CollectRequest } from "./collect-answer.js";
import { answerDocker, isRegistryPath } from "./docker/answer-docker.js";
import { answerFileRoute } from "./files/answer-file-route.js";
import { answerNpmReport, NPM_REPORT_PATH } from "./npm/answer-npm-report.js";
import { answerPixel, PIXEL_PATH } from "./pixels/answer-pixel.js";
import { answerPython } from "./python/answer-python.js";
import type { PythonIndex } from "./python/python-index.js";
import type { DockerSite, Site, Sites } from "./sites.js";

/** What a request was for; `none` where nothing here answers to it. */
export const COLLECT_KINDS = ["pixel", "file", "docker", "python", "npm", "none"] as const;
export type CollectKind = (typeof COLLECT_KINDS)[number];

export interface Collecting {
  sites: Sites;
  pythonIndex: PythonIndex;
  /** The only host name that serves pixels and npm reports; any that is no package's domain when absent. */
  publicHost?: string;
}

export interface KindOfAnswer {
  kind: CollectKind;
  answer: CollectAnswer | Promise<CollectAnswer>;
}

/**
 * Finds who answers: the host decides, and of hosts that are no package's the path. Anyone can claim a host for docker
 * images: where no public host is set, one that pixels and npm reports come to keeps them.
 */
export function answerRequest(request: CollectRequest, collecting: Collecting): KindOfAnswer {
  const { sites, pythonIndex, publicHost } = collecting;
  const site = siteOf(request, collecting);
  if (
    site !== undefined &&
    (site.kind !== "docker" || publicHost !== undefined || isRegistryPath(request.path))
  )
    return { kind: site.kind, answer: answerSite(request, { site, pythonIndex }) };
  if (isRegistryPath(request.path)) return { kind: "none", answer: answerDocker(request, NO_IMAGES) };
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

/** Of a host that is nobody's: clients are told so in the way of registries. */
const NO_IMAGES: DockerSite = { kind: "docker", images: new Map(), first: undefined };
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
