import { numbered } from "../../../schemas/records/numbered.js";
import type {
  FailureOf,
  ImportFailedData,
  NotificationData,
  NotificationEvent,
  SourceFailedData,
  WebhookDisabledData,
} from "../../../schemas/contracts/notification-event.js";
import { path, withQuery } from "../../web/address.js";
import { formatFull, formatShare } from "../../web/parts/format.js";
import { downloadsChanged, monthlyDigest, newCompanies, weeklyDigest } from "./compose-period.js";
import { PRODUCT_NAME } from "../../base/http/product.js";
import { type Message, type Draft, oneLine, quoted } from "./message.js";
import type { AnyData } from "./messages.js";

export interface Composed {
  event: NotificationEvent;
  data: AnyData;
  owner: string;
  /** The result of `LinkBase`. */
  base: string | undefined;
}

export function composeMessage({ event, data, owner, base }: Composed): Message {
  const compose = COMPOSERS[event] as (data: AnyData, owner: string) => Draft;
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

const COMPOSERS: { [Event in NotificationEvent]: (data: NotificationData[Event], owner: string) => Draft } = {
  "weekly-digest": weeklyDigest,
  "monthly-digest": monthlyDigest,
  "new-companies": newCompanies,
  "downloads-changed": downloadsChanged,
  "import-failed": importFailed,
  "webhook-disabled": webhookDisabled,
  "source-failed": sourceFailed,
};

function importFailed(data: ImportFailedData, owner: string): Draft {
  const into = intoOf(data, owner);
  const limit = `You get this message when more than ${data.threshold_percent} % of an import's lines are rejected.`;
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: ${formatFull(data.failures)} imports failed`,
      lines: [
        `${formatFull(data.failures)} imports were interrupted or had rejected lines.`,
        ...listed(data, (each) => `${intoOf(each, owner)}: ${refusedOf(each)}`),
      ],
      small: [limit, ...ONCE_AN_HOUR],
      label: "Open imports",
      end: "/imports",
    };
  const isBroken = data.reason === "upload-interrupted";
  return {
    subject: `${into}: ${isBroken ? "an import was interrupted" : `${refusedOf(data)} in an import`}`,
    lines: [
      isBroken
        ? `The upload of an import into ${into} was interrupted. Nothing was imported; send it again.`
        : `${formatFull(data.events_failed_to_import)} of ${numbered(data.events_total, "line")} of an ` +
          `import into ${into} were rejected (${shareOf(data)}). The import's page shows the reasons. ` +
          "There you can download the rejected lines, fix them and send them again.",
    ],
    small: [limit],
    label: "Open import",
    end: path`/imports/${data.import}`,
  };
}

const intoOf = ({ artifact }: FailureOf<"import-failed">, owner: string) => quoted(artifact ?? owner);

const shareOf = ({ events_total: total, events_failed_to_import: failed }: FailureOf<"import-failed">) =>
  formatShare(total === 0 ? 0 : failed / total);

function refusedOf(data: FailureOf<"import-failed">): string {
  if (data.reason === "upload-interrupted") return "upload interrupted";
  const { events_failed_to_import: failed } = data;
  return `${numbered(failed, "line")} rejected (${shareOf(data)})`;
}

const LISTED_MAX = 10;
const ONCE_AN_HOUR = ["All failures within an hour are combined in one message."];

/** A line for each of the first failures, and one for how many are left. */
function listed<Failure>(
  data: Failure & { failures: number; others: readonly Failure[] },
  lineOf: (failure: Failure) => string,
): string[] {
  const first = [data, ...data.others].slice(0, LISTED_MAX);
  const left = data.failures - first.length;
  return [...first.map(lineOf), ...(left > 0 ? [`And ${formatFull(left)} more.`] : [])];
}

function webhookDisabled(data: WebhookDisabledData, owner: string): Draft {
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: ${formatFull(data.failures)} webhooks were disabled`,
      lines: [
        `${formatFull(data.failures)} webhooks were disabled.`,
        ...listed(data, ({ host, reason }) => `${oneLine(host)}: ${oneLine(reason)}`),
        "Enable each webhook once its receiver works again. Events that happen until then are not sent.",
      ],
      small: ONCE_AN_HOUR,
      label: "Open webhooks",
      end: "/webhooks",
    };
  return {
    subject: `${quoted(owner)}: the webhook to ${quoted(data.host)} was disabled`,
    lines: [
      `The webhook to ${oneLine(data.host)} was disabled. ${oneLine(data.reason, 500)}`,
      "Enable it once its receiver works again. Events that happen until then are not sent.",
    ],
    label: "Open webhook",
    end: path`/webhooks/${data.webhook}`,
  };
}

function sourceFailed(data: SourceFailedData, owner: string): Draft {
  const sources = { label: "Open registry counts", end: "/settings/sources" };
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: registry counts of ${formatFull(data.failures)} sources could not be fetched`,
      lines: [
        `Fetching the registry counts of ${formatFull(data.failures)} sources has failed at least three ` +
          "times in a row.",
        ...listed(data, ({ kind, name, error }) => `${kind} ${quoted(name)}: ${oneLine(error)}`),
        "The service keeps retrying, and will backfill missing days if the registry still has them.",
      ],
      small: ONCE_AN_HOUR,
      ...sources,
    };
  const source = `${data.kind} ${quoted(data.name)}`;
  return {
    subject: `${quoted(owner)}: registry counts of ${source} could not be fetched`,
    lines: [
      `Fetching the registry counts of ${source} has failed at least three times in a row. Last error: ` +
        oneLine(data.error, 500),
      "The service keeps retrying, and will backfill missing days if the registry still has them.",
    ],
    ...sources,
  };
}
