import { PRODUCT_NAME } from "../http/product.js";
import { CONFIRMATION_DAYS } from "./mail-limits.js";
import { type Message, quoted } from "./message.js";

interface Asked {
  owner: string;
  /** The username of who asks. */
  asker: string;
  /** Of the page that confirms. */
  url: string;
}

/** The mail that asks a receiver for consent, and says nothing else. */
export function composeConfirmation({ owner, asker, url }: Asked): Message {
  return {
    subject: `${PRODUCT_NAME}: confirm mails about ${quoted(owner)}`,
    lines: [
      `${quoted(asker)} wants to send statistics and alerts about ${quoted(owner)} to this address.`,
      "To receive them, open this page and confirm. You can also stop all mails from this service there.",
      "If you do nothing, you won't receive any of them.",
    ],
    tiles: [],
    charts: [],
    link: { label: "Confirm or stop", url },
    small: [`The link is valid for ${CONFIRMATION_DAYS} days.`],
  };
}
