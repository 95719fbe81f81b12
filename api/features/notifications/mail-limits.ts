/** Why a mail is sent, which decides on the limits that count it. */
export type MailKind = "confirmation" | "digest" | "alert" | "by-hand";

export interface MailLimit {
  /** `pair`: one account and one receiver, so that one account cannot use up the mails of a receiver. */
  by: "receiver" | "account" | "pair";
  kinds: readonly MailKind[];
  max: number;
  /** The window in which at most `max` are sent, in hours. */
  hours: number;
  /** The name of these mails in a sentence. */
  mails: string;
}

/** A mail is sent once all of these have room. Digests on schedule do not count by receiver, who agreed to each owner. */
export const MAIL_LIMITS: readonly MailLimit[] = [
  { by: "receiver", kinds: ["confirmation"], max: 3, hours: 24, mails: "confirmation emails" },
  { by: "receiver", kinds: ["confirmation"], max: 5, hours: 7 * 24, mails: "confirmation emails" },
  { by: "receiver", kinds: ["alert", "by-hand"], max: 20, hours: 24, mails: "emails other than digests" },
  { by: "pair", kinds: ["confirmation"], max: 3, hours: 7 * 24, mails: "confirmation emails" },
  { by: "pair", kinds: ["by-hand"], max: 10, hours: 24, mails: "manually sent emails" },
  { by: "pair", kinds: ["digest", "alert", "by-hand"], max: 80, hours: 24, mails: "emails" },
  { by: "account", kinds: ["confirmation"], max: 20, hours: 1, mails: "confirmation emails" },
  { by: "account", kinds: ["confirmation"], max: 40, hours: 24, mails: "confirmation emails" },
  {
    by: "account",
    kinds: ["confirmation", "digest", "alert", "by-hand"],
    max: 200,
    hours: 1,
    mails: "emails",
  },
];

/** An owner asks an address again after so many days at the earliest. The link in the mail is valid as long. */
export const CONFIRMATION_DAYS = 7;

/** A mail that found no room for so many hours is not sent any more. */
export const WAITING_HOURS_MAX = 24;

/** Messages that one account sends by hand in a minute, to chats as well. Each process counts for itself. */
export const SENDS_BY_HAND_MAX = 5;

/** Longer than every window above. */
export const COUNTS_KEPT_HOURS = 8 * 24;

export function limitSentence({ by, max, hours, mails }: MailLimit): string {
  const whom = WHOM[by];
  return `Email limit reached: ${whom} at most ${max} ${mails} in ${windowOf(hours)}.`;
}

const WHOM: Readonly<Record<MailLimit["by"], string>> = {
  receiver: "one address can receive",
  account: "one account can send",
  pair: "one account can send to one address",
};

/** `an hour`, `24 hours`, `7 days`. */
export function windowOf(hours: number): string {
  if (hours === 1) return "an hour";
  return hours > 24 ? `${hours / 24} days` : `${hours} hours`;
}

/** The receiver whom limits count: many servers take `ada+anything@` for `ada@`, and hardly any tells users apart by case. */
export function inboxOf(mailbox: string): string {
  const at = mailbox.lastIndexOf("@");
  return (mailbox.slice(0, at).replace(/\+.*$/, "") + mailbox.slice(at)).toLowerCase();
}
