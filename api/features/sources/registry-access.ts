import { createGuardedClient } from "../../../ingest/collect/python/fetch-index.js";
import { createGuard } from "../../base/outbound/guard-address.js";
import type { RegistryAccess } from "./read-registry.js";

/**
 * The address that the operator names for a kind may be private, and that alone: a redirect from it to any other host or
 * port is guarded like those of the registries themselves.
 */
export function createRegistryAccess({
  urls,
  githubToken,
}: Pick<RegistryAccess, "urls" | "githubToken">): RegistryAccess {
  const anywhere = createGuard({ allowPrivateNetworks: true });
  const outside = createGuard({ allowPrivateNetworks: false });
  return {
    fetch(kind) {
      const named = urls[kind] && new URL(urls[kind]).origin;
      return createGuardedClient((url) => (url.origin === named ? anywhere : outside));
    },
    urls,
    githubToken,
  };
}
