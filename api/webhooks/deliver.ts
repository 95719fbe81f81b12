import type { Sealer } from "../identity/tokens.js";
import { PRODUCT } from "../product.js";
import type { AddressGuard } from "../outbound/guarded-lookup.js";
import { sendRequest, type Exchange } from "../outbound/send-request.js";
import { signatureHeaders } from "./sign.js";

/** One event for one webhook. */
export interface Delivery {
  eventId: string;
  webhookId: string;
  url: string;
  body: Buffer;
  /** Sealed for the webhook. */
  secret: Buffer;
  /** Sealed as well; the one before, while it is valid. */
  oldSecret: Buffer | null;
}

export interface DeliverOptions {
  guard: AddressGuard;
  sealer: Sealer;
  /** When it is signed. */
  at: Date;
  timeoutMs?: number | undefined;
}

/** Signs and sends it once. Never rejects, but where a secret was sealed under another SECRET_KEY. */
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

/** The receiver took it. */
export function isSuccess({ status }: Pick<Exchange, "status">): boolean {
  return status !== null && status >= 200 && status < 300;
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (webhooks)`;
