import type { NotificationPreview } from "../../schemas/contracts/notification.js";
import { PRODUCT } from "../http/product.js";
import type { Sealer } from "../identity/tokens.js";
import type { AddressGuard } from "../outbound/guard-address.js";
import { sendRequest } from "../outbound/send-request.js";
import { composeMessage } from "./compose-message.js";
import { type ChatChannel, chatBody } from "./formats/chat-bodies.js";
import { messageHtml } from "./formats/message-html.js";
import { messageText } from "./formats/message-text.js";
import { type Mail, MailRefused, NO_MAIL, type SendMail } from "./mail.js";
import type { AnyData } from "./messages.js";
import type { StoredNotification } from "./notifications.js";
import { unsubscribeUrl } from "./unsubscribe-token.js";

export interface SendDeps {
  guard: AddressGuard;
  sealer: Sealer;
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

/** Sends a message once. Never rejects for what a receiver does. */
export async function sendMessage(sending: Sending, deps: SendDeps): Promise<Sent> {
  const { notification } = sending;
  const target = deps.sealer.open(notification.target, notification.id);
  return notification.channel === "email"
    ? sendByMail(sending, { ...deps, to: target })
    : sendToChat(sending, { ...deps, url: target });
}

/** A message as it would be sent now. */
export function previewMessage(sending: Sending, { sealer }: Pick<SendDeps, "sealer">): NotificationPreview {
  const { notification, data } = sending;
  const { channel } = notification;
  const message = composeMessage({ ...notification, data });
  if (channel !== "email")
    return { subject: message.subject, text: messageText(message), body: chatBody(channel, message) };
  const to = sealer.open(notification.target, notification.id);
  const { subject, text, html } = mailOf(sending, { sealer, to });
  return { subject, text, html };
}

function mailOf(
  { id, corrects, createdAt: date, data, notification }: Sending,
  { sealer, to }: Pick<SendDeps, "sealer"> & { to: string },
): Mail {
  const message = composeMessage({ ...notification, data });
  const url = unsubscribeUrl(sealer, notification, to);
  const text = messageText(message, ["", "Unsubscribe from these mails:", url]);
  const html = messageHtml(message, url);
  const { subject } = message;
  return { id, corrects: corrects ?? undefined, to, date, subject, text, html, unsubscribeUrl: url };
}

async function sendByMail(sending: Sending, deps: SendDeps & { to: string }): Promise<Sent> {
  const { sendMail } = deps;
  if (sendMail === undefined) return { isSent: false, isFinal: false, error: NO_MAIL };
  try {
    await sendMail(mailOf(sending, deps));
    return { isSent: true };
  } catch (error) {
    deps.onMailFailure?.(error);
    if (error instanceof MailRefused) {
      const reason = `The mail server did not take it: ${error.message}`.slice(0, ERROR_CHARACTERS_MAX);
      return { isSent: false, isFinal: error.isFinal, error: reason };
    }
    // Where the mail server is, and how the service signs in there, is the operator's: the log has it.
    return { isSent: false, isFinal: false, error: "The mail server of the service could not be used." };
  }
}

const ERROR_CHARACTERS_MAX = 500;

async function sendToChat(
  { data, notification }: Sending,
  { guard, url }: SendDeps & { url: string },
): Promise<Sent> {
  const channel = notification.channel as ChatChannel;
  const body = Buffer.from(JSON.stringify(chatBody(channel, composeMessage({ ...notification, data }))));
  const headers = { "Content-Type": "application/json", "User-Agent": USER_AGENT };
  const { status, error, responseBody } = await sendRequest({ url, headers, body }, { guard });
  if (status !== null && status >= 200 && status < 300) return { isSent: true };
  const answered = `${channel} answered ${status ?? "nothing"}: ${responseBody}`;
  const isFinal = status !== null && status < 500 && status !== 429 && status !== 408;
  return { isSent: false, isFinal, error: error ?? answered.slice(0, ERROR_CHARACTERS_MAX) };
}

const USER_AGENT = `maintainer-toolchain/${PRODUCT.version} (notifications)`;
