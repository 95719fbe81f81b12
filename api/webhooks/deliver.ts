import type { Delivery } from "./webhook-claims.js";
import type { Sealer } from "../identity/tokens.js";
import { PRODUCT } from "../http/product.js";
import type { AddressGuard } from "../outbound/guarded-lookup.js";
import { sendRequest, type Exchange } from "../outbound/send-request.js";
import { signatureHeaders } from "./sign.js";

export interface DeliverOptions {
  guard: AddressGuard;
  sealer: Sealer;
  /** The time of the signature. */
  at: Date;
  timeoutMs?: number | undefined;
}

/** Signs and sends the event once. Rejects only if a secret was sealed with another SECRET_KEY. */
export async function deliver(
  delivery: Delivery,
  { guard, sealer, at, timeoutMs }: DeliverOptions,
): Promise<Exchange> {
  const { eventId: id, webhookId, url, body, secret, oldSecret } = delivery;
  const sealed = oldSecret === null ? [secret] : [secret, oldSecret];
  const secrets = sealed.map((each) => sealer.open(each, webhookId));
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": USER_AGENT,
    ...signatureHeaders({ id, body, secrets, at }),
  };
  return sendRequest({ url, headers, body }, { guard, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/** Whether the receiver accepted the event. */
export function isSuccess({ status }: Pick<Exchange, "status">): boolean {
  return status !== null && status >= 200 && status < 300;
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (webhooks)`;
