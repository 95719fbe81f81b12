import { numbered } from "../../schemas/records/numbered.js";
import type {
  FailedImport,
  ImportFailedData,
  NotificationData,
  NotificationEvent,
  SourceFailedData,
  WebhookDisabledData,
} from "../../schemas/contracts/notification-data.js";
import { path, withQuery } from "../dashboard/address.js";
import { formatFull, formatShare } from "../dashboard/parts/format.js";
import { downloadsChanged, monthlyDigest, newCompanies, weeklyDigest } from "./compose-period.js";
import { PRODUCT_NAME } from "../http/product.js";
import { type Message, type Said, oneLine, quoted } from "./message.js";
import type { AnyData } from "./messages.js";

export interface Composed {
  event: NotificationEvent;
  data: AnyData;
  owner: string;
  /** The result of `LinkBase`. */
  base: string | undefined;
}

export function composeMessage({ event, data, owner, base }: Composed): Message {
  const compose = COMPOSERS[event] as (data: AnyData, owner: string) => Said;
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

const COMPOSERS: { [Event in NotificationEvent]: (data: NotificationData[Event], owner: string) => Said } = {
  "weekly-digest": weeklyDigest,
  "monthly-digest": monthlyDigest,
  "new-companies": newCompanies,
  "downloads-changed": downloadsChanged,
  "import-failed": importFailed,
  "webhook-disabled": webhookDisabled,
  "source-failed": sourceFailed,
};

function importFailed(data: ImportFailedData, owner: string): Said {
  const into = intoOf(data, owner);
  const limit = `You are notified if more than ${data.threshold_percent} % of the lines are rejected.`;
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: ${formatFull(data.failures)} imports failed`,
      lines: [
        `${formatFull(data.failures)} imports were aborted or had rejected lines.`,
        ...listed(data, (each) => `${intoOf(each, owner)}: ${refusedOf(each)}`),
      ],
      small: [limit, ...ONCE_AN_HOUR],
      label: "Open imports",
      end: "/imports",
    };
  const isBroken = data.reason === "upload-interrupted";
  return {
    subject: isBroken ? `${into}: an import broke off` : `${into}: an import ${refusedOf(data)}`,
    lines: [
      isBroken
        ? `An import into ${into} broke off. Nothing was imported; send it again.`
        : `An import into ${into} rejected ${formatFull(data.events_failed_to_import)} of ` +
          `${numbered(data.events_total, "line")} (${shareOf(data)}). Its page shows why, and lets you download ` +
          "the rejected lines, fix them and send them again.",
    ],
    small: [limit],
    label: "Open import",
    end: path`/imports/${data.import}`,
  };
}

const intoOf = ({ artifact }: FailedImport, owner: string) => quoted(artifact ?? owner);

const shareOf = ({ events_total: total, events_failed_to_import: failed }: FailedImport) =>
  formatShare(total === 0 ? 0 : failed / total);

function refusedOf(data: FailedImport): string {
  if (data.reason === "upload-interrupted") return "broke off";
  const { events_failed_to_import: failed } = data;
  return `rejected ${numbered(failed, "line")} (${shareOf(data)})`;
}

const LISTED_MAX = 10;
const ONCE_AN_HOUR = ["Failures within an hour are sent in one message."];

/** A line for each of the first failures, and one for how many are left. */
function listed<Failure>(
  data: Failure & { failures: number; others: readonly Failure[] },
  lineOf: (failure: Failure) => string,
): string[] {
  const first = [data, ...data.others].slice(0, LISTED_MAX);
  const left = data.failures - first.length;
  return [...first.map(lineOf), ...(left > 0 ? [`And ${formatFull(left)} more.`] : [])];
}

function webhookDisabled(data: WebhookDisabledData, owner: string): Said {
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: ${formatFull(data.failures)} webhooks were disabled`,
      lines: [
        `${formatFull(data.failures)} webhooks were disabled.`,
        ...listed(data, ({ host, reason }) => `${oneLine(host)}: ${oneLine(reason)}`),
        "Enable each webhook once its receiver works again. Events until then are not sent.",
      ],
      small: ONCE_AN_HOUR,
      label: "Open webhooks",
      end: "/webhooks",
    };
  return {
    subject: `${quoted(owner)}: the webhook to ${quoted(data.host)} was disabled`,
    lines: [
      `The webhook to ${oneLine(data.host)} was disabled. ${oneLine(data.reason, 500)}`,
      "Enable it once its receiver works again. Events until then are not sent.",
    ],
    label: "Open webhook",
    end: path`/webhooks/${data.webhook}`,
  };
}

function sourceFailed(data: SourceFailedData, owner: string): Said {
  const sources = { label: "Open sources", end: "/settings/sources" };
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: counts of ${formatFull(data.failures)} sources cannot be fetched`,
      lines: [
        `Fetching the counts of ${formatFull(data.failures)} sources failed at least three times in a row.`,
        ...listed(data, ({ kind, name, error }) => `${kind} ${quoted(name)}: ${oneLine(error)}`),
        "Fetching is retried automatically. Missing days are backfilled if the registry still has them.",
      ],
      small: ONCE_AN_HOUR,
      ...sources,
    };
  const source = `${data.kind} ${quoted(data.name)}`;
  return {
    subject: `${quoted(owner)}: counts of ${source} cannot be fetched`,
    lines: [
      `Fetching the counts of ${source} failed at least three times in a row. Last error: ` +
        oneLine(data.error, 500),
      "Fetching is retried automatically. Missing days are backfilled if the registry still has them.",
    ],
    ...sources,
  };
}
