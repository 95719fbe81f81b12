export interface Mail {
  /** Names it in `Message-ID`: the same at every attempt, so that a server or reader can tell a second copy. */
  id: string;
  /** The id of the mail that it corrects. */
  corrects?: string | undefined;
  to: string;
  date: Date;
  subject: string;
  text: string;
  html: string;
  /** Absent where messages have no links. */
  unsubscribeUrl?: string | undefined;
}

/** Throws `MailRefused` for what the server answered to the mail, and another error where it could not be used. */
export type SendMail = (mail: Mail) => Promise<void>;

export class MailRefused extends Error {
  /** Whether another attempt would have the same end. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal, cause }: { isFinal: boolean; cause: unknown }) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}

export const NO_LINKS =
  "The confirmation email cannot be sent because the service does not know its public URL. Its operator " +
  "must set PUBLIC_URL.";
export const NO_MAIL = "This service cannot send email. Its operator must set SMTP_URL and MAIL_FROM.";
