import type { Sealer } from "../identity/tokens.js";
import type { StoredNotification } from "./notifications.js";

/** Leads to a page with one button, and ends the mails when something is POSTed to it (RFC 8058). Logs leave queries out. */
export function unsubscribeUrl(
  sealer: Sealer,
  { id, baseUrl }: Pick<StoredNotification, "id" | "baseUrl">,
  address: string,
): string {
  const token = sealer.seal(address, unsubscribing(id)).toString("base64url");
  return `${baseUrl}/unsubscribe/${id}?token=${token}`;
}

/** Whether the token was made for this notification and its address of now. Nobody can make one without the key. */
export function isUnsubscribeToken(
  sealer: Sealer,
  { id, target }: Pick<StoredNotification, "id" | "target">,
  token: string,
): boolean {
  try {
    return sealer.open(Buffer.from(token, "base64url"), unsubscribing(id)) === sealer.open(target, id);
  } catch {
    return false;
  }
}

const unsubscribing = (id: string) => `unsubscribe ${id}`;
