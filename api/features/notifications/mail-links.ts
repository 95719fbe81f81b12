import type { Sealer } from "../../base/identity/tokens.js";
import type { Receiver } from "./agreements.js";
import type { StopScope } from "./mail-stops.js";

/** What a link in a mail knows, also once its notification or its owner is gone. */
export interface MailLink extends Receiver {
  notificationId: string;
}

export interface UnsubscribeLink extends MailLink {
  /** What one click in a mail program stops. */
  oneClick: StopScope;
}

/**
 * Opens a page where the receiver chooses what to stop. A POST without a choice (RFC 8058) stops `oneClick`. Logs leave
 * queries out.
 */
export function unsubscribeUrl(sealer: Sealer, base: string, link: UnsubscribeLink): string {
  const { notificationId, ownerId, mailbox, oneClick } = link;
  return tokenUrl(`${base}/unsubscribe/${notificationId}`, {
    sealer,
    purpose: unsubscribing(notificationId),
    parts: [ownerId, mailbox, oneClick],
  });
}

/** Undefined for a token that is not of this notification. Nobody can make one without the key. */
export function readUnsubscribeLink(
  sealer: Sealer,
  { notificationId, token }: { notificationId: string; token: string },
): UnsubscribeLink | undefined {
  const parts = openToken(sealer, unsubscribing(notificationId), token);
  if (parts === undefined) return undefined;
  const [ownerId = "", mailbox = "", oneClick] = parts;
  return { ownerId, notificationId, mailbox, oneClick: oneClick === "service" ? "service" : "owner" };
}

/** The link of a preview, without a token: managers of a notification must not act for its receiver. */
export function unsubscribeUrlInPreview(base: string, notificationId: string): string {
  return `${base}/unsubscribe/${notificationId}`;
}

export interface ConfirmationLink extends MailLink {
  agreementId: string;
  /** Of the mail. */
  messageId: string;
}

/** Leads to a page where the receiver confirms the address. */
export function confirmationUrl(sealer: Sealer, base: string, link: ConfirmationLink): string {
  const { agreementId, messageId, ownerId, notificationId, mailbox } = link;
  return tokenUrl(`${base}/confirm-address/${agreementId}`, {
    sealer,
    purpose: confirming(agreementId),
    parts: [messageId, ownerId, notificationId, mailbox],
  });
}

export function readConfirmationLink(
  sealer: Sealer,
  { agreementId, token }: { agreementId: string; token: string },
): ConfirmationLink | undefined {
  const parts = openToken(sealer, confirming(agreementId), token);
  if (parts === undefined) return undefined;
  const [messageId = "", ownerId = "", notificationId = "", mailbox = ""] = parts;
  return { agreementId, messageId, ownerId, notificationId, mailbox };
}

const unsubscribing = (id: string) => `unsubscribe ${id}`;
const confirming = (id: string) => `confirm ${id}`;

function tokenUrl(
  url: string,
  { sealer, purpose, parts }: { sealer: Sealer; purpose: string; parts: readonly string[] },
): string {
  return `${url}?token=${sealer.seal(JSON.stringify(parts), purpose).toString("base64url")}`;
}

function openToken(sealer: Sealer, purpose: string, token: string): string[] | undefined {
  try {
    return JSON.parse(sealer.open(Buffer.from(token, "base64url"), purpose)) as string[];
  } catch {
    return undefined;
  }
}
