import { PRODUCT_NAME } from "../../base/http/product.js";
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
    subject: `${PRODUCT_NAME}: confirm emails about ${quoted(owner)}`,
    lines: [
      `${quoted(asker)} wants to send statistics and alerts about ${quoted(owner)} to this address.`,
      "To receive these emails, open the page below and confirm. On the same page you can stop all emails " +
        "from this service.",
      "If you do nothing, you won't receive any emails.",
    ],
    tiles: [],
    charts: [],
    link: { label: "Confirm or stop", url },
    small: [`The link is valid for ${CONFIRMATION_DAYS} days.`],
  };
}
