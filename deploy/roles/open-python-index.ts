import type { Logger } from "pino";
import { createPythonIndex, type PythonIndex } from "../../ingest/collect/python/python-index.js";
import type { Config } from "../config/config.js";
import { createGuard } from "../../api/outbound/create-guard.js";
import { createIndexClient } from "../../ingest/collect/python/fetch-index.js";

/** The upstreams of Python packages; anybody with an account names them, so only public addresses are asked. */
export function openPythonIndex(
  { allowPrivateUpstreams }: Pick<Config["collect"], "allowPrivateUpstreams">,
  log: Logger,
): PythonIndex {
  const guard = createGuard({ allowPrivateNetworks: allowPrivateUpstreams });
  return createPythonIndex({
    fetchIndex: createIndexClient(guard),
    now: () => performance.now(),
    onFailure: (error, url) => log.warn({ err: error, url }, "a page of a Python index could not be fetched"),
  });
}
