import type { NotificationPreview } from "../../../schemas/contracts/notification.js";
import { PRODUCT } from "../../base/http/product.js";
import type { Sealer } from "../../base/identity/tokens.js";
import type { AddressGuard } from "../../base/outbound/guard-address.js";
import { sendRequest } from "../../base/outbound/send-request.js";
import { composeConfirmation } from "./compose-confirmation.js";
import { composeMessage } from "./compose-message.js";
import { type ChatChannel, chatBody } from "./formats/chat-bodies.js";
import { messageHtml } from "./formats/message-html.js";
import { messageText } from "./formats/message-text.js";
import { type Mail, MailRefused, NO_MAIL, type SendMail } from "./mail.js";
import { type MailLink, confirmationUrl, unsubscribeUrl, unsubscribeUrlInPreview } from "./mail-links.js";
import type { AnyData } from "./messages.js";
import type { LinkBase, StoredNotification } from "./notifications.js";

export interface SendDeps {
  guard: AddressGuard;
  sealer: Sealer;
  linkBase: LinkBase;
  sendMail?: SendMail | undefined;
  onMailFailure?: (error: unknown) => void;
}

export interface Sending {
  id: string;
  corrects?: string | null;
  createdAt: Date;
  data: AnyData;
  notification: StoredNotification;
}

export type Sent = { isSent: true } | { isSent: false; isFinal: boolean; error: string };

/** Sends a message once. Never rejects for what a receiver does. A mail must be admitted before; see `admitMail`. */
export async function sendMessage(sending: Sending, deps: SendDeps): Promise<Sent> {
  const { notification } = sending;
  const target = deps.sealer.open(notification.target, notification.id);
  if (notification.channel !== "email") return sendToChat(sending, { ...deps, url: target });
  const base = deps.linkBase();
  const url = base && unsubscribeUrl(deps.sealer, base, { ...linkOf(notification), oneClick: "owner" });
  return sendByMail(mailOf(sending, { base, to: target, url }), deps);
}

/** A message as it would be sent now, without what only its receiver may use. */
export function previewMessage(
  sending: Sending,
  { sealer, linkBase }: Pick<SendDeps, "sealer" | "linkBase">,
): NotificationPreview {
  const { notification, data } = sending;
  const { channel, id } = notification;
  const base = linkBase();
  const message = composeMessage({ ...notification, data, base });
  if (channel !== "email")
    return { subject: message.subject, text: messageText(message), body: chatBody(channel, message) };
  const to = sealer.open(notification.target, id);
  const { subject, text, html } = mailOf(sending, {
    base,
    to,
    url: base && unsubscribeUrlInPreview(base, id),
  });
  return { subject, text, html };
}

interface Asking {
  /** Of the message. */
  id: string;
  createdAt: Date;
  notification: StoredNotification;
  agreementId: string;
  asker: string;
  base: string;
}

/** Sends a confirmation mail once. It must be admitted before; see `admitMail`. */
export function sendConfirmation(asking: Asking, deps: SendDeps): Promise<Sent> {
  const { id, createdAt: date, notification, agreementId, asker, base } = asking;
  const link = linkOf(notification);
  const url = confirmationUrl(deps.sealer, base, { ...link, agreementId, messageId: id });
  const message = composeConfirmation({ owner: notification.owner, asker, url });
  const mail = {
    id,
    to: deps.sealer.open(notification.target, notification.id),
    date,
    subject: message.subject,
    text: messageText(message),
    html: messageHtml(message),
    // An account may ask for many owners.
    unsubscribeUrl: unsubscribeUrl(deps.sealer, base, { ...link, oneClick: "service" }),
  };
  return sendByMail(mail, deps);
}

function linkOf({ id: notificationId, ownerId, mailbox }: StoredNotification): MailLink {
  return { notificationId, ownerId, mailbox: mailbox ?? "" };
}

interface Addressed {
  base: string | undefined;
  to: string;
  /** Where the receiver unsubscribes. */
  url: string | undefined;
}

function mailOf(
  { id, corrects, createdAt: date, data, notification }: Sending,
  { base, to, url }: Addressed,
): Mail {
  const message = composeMessage({ ...notification, data, base });
  const text = messageText(message, url === undefined ? [] : ["", "Unsubscribe from these emails:", url]);
  const html = messageHtml(message, url);
  const { subject } = message;
  return { id, corrects: corrects ?? undefined, to, date, subject, text, html, unsubscribeUrl: url };
}

async function sendByMail(mail: Mail, { sendMail, onMailFailure }: SendDeps): Promise<Sent> {
  if (sendMail === undefined) return { isSent: false, isFinal: false, error: NO_MAIL };
  try {
    await sendMail(mail);
    return { isSent: true };
  } catch (error) {
    onMailFailure?.(error);
    if (error instanceof MailRefused) {
      const reason = `The mail server rejected the message: ${error.message}`.slice(0, ERROR_CHARACTERS_MAX);
      return { isSent: false, isFinal: error.isFinal, error: reason };
    }
    // Where the mail server is, and how the service signs in there, is the operator's: the log has it.
    return {
      isSent: false,
      isFinal: false,
      error: "The message could not be sent through the mail server. The operator's log has the reason.",
    };
  }
}

const ERROR_CHARACTERS_MAX = 500;

async function sendToChat(
  { data, notification }: Sending,
  { guard, linkBase, url }: SendDeps & { url: string },
): Promise<Sent> {
  const channel = notification.channel as ChatChannel;
  const message = composeMessage({ ...notification, data, base: linkBase() });
  const body = Buffer.from(JSON.stringify(chatBody(channel, message)));
  const headers = { "Content-Type": "application/json", "User-Agent": USER_AGENT };
  const { status, error, responseBody } = await sendRequest({ url, headers, body }, { guard });
  if (status !== null && status >= 200 && status < 300) return { isSent: true };
  const answered = `${channel} returned status ${status ?? "unknown"}: ${responseBody}`;
  const isFinal = status !== null && status < 500 && status !== 429 && status !== 408;
  return { isSent: false, isFinal, error: error ?? answered.slice(0, ERROR_CHARACTERS_MAX) };
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (notifications)`;
