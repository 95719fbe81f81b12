/** A path below `/v2/` that is about one image. */
export interface ImagePath {
  name: string;
  kind: "manifests" | "blobs" | "tags" | "referrers";
  reference: string;
}

export function isRegistryPath(path: string): boolean {
  return path === "/v2" || path.startsWith("/v2/");
}

/** Clients ask this path whether they have to log in, and where. */
export function isRegistryRoot(path: string): boolean {
  return path === "/v2" || path === "/v2/";
}

/** Parses from the end, because a name has any number of components and one of them may be `manifests`. */
export function parseImagePath(path: string): ImagePath | undefined {
  const parts = path.slice("/v2/".length).split("/").map(decoded);
  const [kind, reference] = parts.slice(-2);
  if (kind === undefined || reference === undefined) return undefined;
  if (!Object.hasOwn(REFERENCES, kind) || !REFERENCES[kind as ImagePath["kind"]].test(reference))
    return undefined;
  return { name: parts.slice(0, -2).join("/"), kind: kind as ImagePath["kind"], reference };
}

/** Whether a reference of a manifest is a tag; otherwise it is a digest. */
export function isTag(reference: string): boolean {
  return TAG.test(reference);
}

const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$/;

/** OCI distribution specification, "Pulling manifests" and following. */
const REFERENCES = {
  manifests: new RegExp(`${TAG.source}|${DIGEST.source}`),
  blobs: DIGEST,
  referrers: DIGEST,
  tags: /^list$/,
} as const satisfies Record<ImagePath["kind"], RegExp>;

/** Some clients encode the colon of a digest. An invalid encoding becomes empty and matches nothing. */
function decoded(component: string): string {
  try {
    return decodeURIComponent(component);
  } catch {
    return "";
  }
}
