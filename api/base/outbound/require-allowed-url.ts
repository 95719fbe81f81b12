import { Problem } from "../../../schemas/problem.js";
import { type AddressGuard, urlFault } from "./guard-address.js";

/** Throws `webhook-url-not-allowed` for a URL that the service would not send a request to. */
export async function requireAllowedUrl(guard: AddressGuard, url: string): Promise<void> {
  const fault = await guard.faultNow(url);
  if (fault === undefined) return;
  const isInside = urlFault(url, { allowPrivateNetworks: true }) === undefined;
  const remedy = isInside
    ? " The operator of this service can allow it with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true."
    : "";
  throw new Problem("webhook-url-not-allowed", `The URL ${fault}.${remedy}`);
}
