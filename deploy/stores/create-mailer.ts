import type { Transporter } from "nodemailer";
import { MailRefused, type SendMail } from "../../api/features/notifications/mail.js";
import { asciiOf, parseMailbox } from "../../schemas/mailbox.js";
import { PRODUCT } from "../../api/base/http/product.js";

/** Each answer of the server may take so long; all of them are shorter than the lease of a message. */
const CONNECTION_MS = 15_000;
const SILENCE_MS = 30_000;

/** Sends mails by SMTP, each on a connection of its own. The library is loaded for the first. */
export function createMailer({ url, from: sender }: { url: string; from: string }): SendMail {
  const from = parseMailbox(sender) ?? { name: "", address: sender };
  const options = {
    url,
    connectionTimeout: CONNECTION_MS,
    greetingTimeout: CONNECTION_MS,
    dnsTimeout: CONNECTION_MS,
    socketTimeout: SILENCE_MS,
    // Contents are ours, and never a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  let transport: Promise<Transporter> | undefined;
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  // Servers that know nothing of UTF-8 read it as well.
  const messageId = (id: string) => `<${id}@${asciiOf(domain) || domain}>`;
  return async ({ id, corrects, to, date, subject, text, html, unsubscribeUrl }) => {
    const mail = {
      from,
      // As an object: nothing of it is taken for a list of addresses.
      to: { name: "", address: to },
      date,
      subject,
      text,
      html,
      messageId: messageId(id),
      ...(corrects !== undefined && { inReplyTo: messageId(corrects), references: [messageId(corrects)] }),
      headers: {
        ...(unsubscribeUrl !== undefined && {
          "List-Unsubscribe": `<${unsubscribeUrl}>`,
          "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }),
        // No answer by machine is wanted (RFC 3834).
        "Auto-Submitted": "auto-generated",
        "X-Mailer": `maintainer-toolchain/${PRODUCT.version}`,
      },
    };
    try {
      transport ??= import("nodemailer").then(({ createTransport }) => createTransport(options));
      await (await transport).sendMail(mail);
    } catch (error) {
      if (!isRefused(error)) throw error;
      const { message, responseCode } = error as Error & { responseCode: number };
      throw new MailRefused(message, { isFinal: responseCode >= 500, cause: error });
    }
  };
}

/** What a server answers to the sender, the receiver or the text; that it wants a password is between it and the operator. */
function isRefused(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (
    (code === "EENVELOPE" || code === "EMESSAGE") &&
    responseCode > 0 &&
    responseCode !== AUTHENTICATION_REQUIRED
  );
}

/** RFC 4954. */
const AUTHENTICATION_REQUIRED = 530;
