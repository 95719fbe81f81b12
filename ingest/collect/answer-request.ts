import {
  NOTHING,
  type CollectAnswer,
  type CollectRequest,
  type RelayedAnswer,
  type StreamedAnswer,
} from "./read-collect-request.js";
import { answerDocker, type ImagePulls } from "./docker/answer-docker.js";
import { isRegistryPath, isRegistryRoot, parseImagePath } from "./docker/image-path.js";
import { answerFileRoute } from "./files/answer-file-route.js";
import { answerNpmReport, NPM_REPORT_PATH } from "./answer-npm-report.js";
import { answerPixel, PIXEL_PATH } from "./answer-pixel.js";
import { answerPython } from "./python/answer-python.js";
import type { PythonIndex } from "./python/python-index.js";
import type { DockerSite, Site, Sites } from "./sites.js";

/** The kinds of request; `none` is one that matches nothing here. */
export const COLLECT_KINDS = ["pixel", "file", "docker", "python", "npm", "none"] as const;
export type CollectKind = (typeof COLLECT_KINDS)[number];

export interface Collecting {
  sites: Sites;
  pythonIndex: PythonIndex;
  imagePulls: ImagePulls;
  /** The only host name that serves pixels and npm reports. When absent, every host that is no package's domain does. */
  publicHost?: string;
}

export interface RoutedAnswer {
  kind: CollectKind;
  answer: CollectAnswer | Promise<CollectAnswer | StreamedAnswer> | RelayedAnswer;
}

/**
 * By its host, or by its path when the host belongs to no package. Any account can claim a host for docker
 * images, so without a public host it still serves pixels and npm reports outside of /v2/.
 */
export function answerRequest(request: CollectRequest, collecting: Collecting): RoutedAnswer {
  const { sites, imagePulls, publicHost } = collecting;
  const images = imagesOf(request, collecting);
  if (images !== undefined) return { kind: "docker", answer: answerDocker(request, images, imagePulls) };
  const site = siteOf(request, collecting);
  if (
    site !== undefined &&
    (site.kind !== "docker" || publicHost !== undefined || isRegistryPath(request.path))
  )
    return { kind: site.kind, answer: answerSite(request, site, collecting) };
  if (isRegistryPath(request.path)) return { kind: "none", answer: answerNothing(request, imagePulls) };
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

/** The package that a request is for. The public host never belongs to one, although any account could claim it. */
export function siteOf(
  { host }: Pick<CollectRequest, "host">,
  { sites, publicHost }: Pick<Collecting, "sites" | "publicHost">,
): Site | undefined {
  return host === publicHost ? undefined : sites.of(host);
}

/** The images on a host, for its registry's paths: there they come before a package whose domain this is. */
function imagesOf(
  { host, path }: CollectRequest,
  { sites, publicHost }: Pick<Collecting, "sites" | "publicHost">,
): DockerSite | undefined {
  if (!isRegistryPath(path) || host === publicHost) return undefined;
  const images = sites.imagesOf(host);
  if (images === undefined || isRegistryRoot(path)) return images;
  return images.images.has(parseImagePath(path)?.name ?? "") ? images : undefined;
}

/** Registry paths get a registry's error. */
function answerNothing(request: CollectRequest, imagePulls: ImagePulls): RoutedAnswer["answer"] {
  return isRegistryPath(request.path) ? answerDocker(request, NO_IMAGES, imagePulls) : NOTHING;
}

const NO_IMAGES: DockerSite = { kind: "docker", images: new Map(), first: undefined };
const UNKNOWN: RoutedAnswer = { kind: "none", answer: NOTHING };

function answerSite(
  request: CollectRequest,
  site: Site,
  { sites, imagePulls, pythonIndex }: Collecting,
): RoutedAnswer["answer"] {
  switch (site.kind) {
    case "file": {
      const answer = answerFileRoute(request, site);
      return answer === NOTHING ? answerNothing(request, imagePulls) : answer;
    }
    case "docker":
      return answerDocker(request, site, imagePulls);
    case "python":
      if (isRegistryPath(request.path)) return answerNothing(request, imagePulls);
      return (gone) => answerPython(request, site, { index: pythonIndex, packages: sites.python, gone });
  }
}
