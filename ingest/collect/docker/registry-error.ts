import type { CollectAnswer } from "../collect-answer.js";

export const VERSION_HEADER = { "Docker-Distribution-Api-Version": "registry/2.0" };

export const NAME_UNKNOWN = registryError(404, "NAME_UNKNOWN", "repository name not known to registry");
export const UNSUPPORTED = registryError(405, "UNSUPPORTED", "this host serves pulls only", {
  Allow: "GET, HEAD",
});
export const TOO_MANY_REQUESTS = registryError(
  429,
  "TOOMANYREQUESTS",
  "this host passes on too many requests to registries at the moment",
  { "Retry-After": "5" },
);
/** A code of Docker's registry, which the OCI specification does not list. */
export const UNAVAILABLE = registryError(
  502,
  "UNAVAILABLE",
  "the registry behind this host does not answer",
  { "Retry-After": "5" },
);

/** OCI distribution specification, "Error Codes". */
function registryError(status: number, code: string, message: string, headers = {}): CollectAnswer {
  const body = JSON.stringify({ errors: [{ code, message }] });
  return {
    status,
    headers: { ...VERSION_HEADER, ...headers, "Content-Type": "application/json" },
    body,
    events: [],
  };
}
