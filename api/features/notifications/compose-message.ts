import { type NotificationEvent, isPeriodEvent } from "../../../schemas/contracts/notification-event.js";
import { path, withQuery } from "../../web/address.js";
import { PRODUCT_NAME } from "../../base/http/product.js";
import { failureKind, periodKind } from "./events/events.js";
import type { Draft, Message } from "./message.js";
import type { AnyData } from "./messages.js";

export interface Composed {
  event: NotificationEvent;
  data: AnyData;
  owner: string;
  /** The result of `LinkBase`. */
  base: string | undefined;
}

export function composeMessage({ event, data, owner, base }: Composed): Message {
  const { compose } = (isPeriodEvent(event) ? periodKind(event) : failureKind(event)) as {
    compose: (data: AnyData, owner: string) => Draft;
  };
  const { end, query, label, ...said } = compose(data, owner);
  const page = withQuery(`/dashboard${path`/o/${owner}`}${end}`, query);
  const { correction } = data as { correction?: boolean };
  const subject = correction === true ? `Correction: ${said.subject}` : said.subject;
  return {
    tiles: [],
    charts: [],
    small: [],
    ...said,
    subject: `${PRODUCT_NAME}: ${subject}`,
    ...(correction === true && { lines: [CORRECTION, ...said.lines] }),
    ...(base !== undefined && { link: { label, url: base + page } }),
  };
}

const CORRECTION =
  "This corrects an earlier message. The numbers have changed because events were added, replaced or retracted.";
