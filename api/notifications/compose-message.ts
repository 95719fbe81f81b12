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
  "These numbers were sent before and have changed since: more events came in, or some were replaced or taken back.";

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
  const limit = `You are told where more than ${data.threshold_percent} % are refused.`;
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: ${formatFull(data.failures)} imports failed`,
      lines: [
        `${formatFull(data.failures)} imports broke off or refused lines.`,
        ...listed(data, (each) => `${intoOf(each, owner)}: ${refusedOf(each)}`),
      ],
      small: [limit, ...ONCE_AN_HOUR],
      label: "Open the imports",
      end: "/imports",
    };
  const isBroken = data.reason === "upload-interrupted";
  return {
    subject: isBroken ? `${into}: an import broke off` : `${into}: an import ${refusedOf(data)}`,
    lines: [
      isBroken
        ? `An import into ${into} broke off before its end. Nothing of it was imported: send it again.`
        : `An import into ${into} refused ${formatFull(data.events_failed_to_import)} of ` +
          `${numbered(data.events_total, "line")}, ${shareOf(data)}. Its page says why, ` +
          "and has the lines to mend and send again.",
    ],
    small: [limit],
    label: "Open the import",
    end: path`/imports/${data.import}`,
  };
}

const intoOf = ({ artifact }: FailedImport, owner: string) => quoted(artifact ?? owner);

const shareOf = ({ events_total: total, events_failed_to_import: failed }: FailedImport) =>
  formatShare(total === 0 ? 0 : failed / total);

function refusedOf(data: FailedImport): string {
  if (data.reason === "upload-interrupted") return "broke off";
  const { events_failed_to_import: failed } = data;
  return `refused ${numbered(failed, "line")} (${shareOf(data)})`;
}

const LISTED_MAX = 10;
const ONCE_AN_HOUR = ["Failures of an hour come in one message."];

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
        "Enable each once its receiver answers again. What happens until then is not sent to it.",
      ],
      small: ONCE_AN_HOUR,
      label: "Open the webhooks",
      end: "/webhooks",
    };
  return {
    subject: `${quoted(owner)}: the webhook to ${quoted(data.host)} was disabled`,
    lines: [
      `The webhook to ${oneLine(data.host)} was disabled. ${oneLine(data.reason, 500)}`,
      "Once its receiver answers again, enable it. What happens until then is not sent to it.",
    ],
    label: "Open the webhook",
    end: path`/webhooks/${data.webhook}`,
  };
}

function sourceFailed(data: SourceFailedData, owner: string): Said {
  const sources = { label: "Open the sources", end: "/settings/sources" };
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: the counts of ${formatFull(data.failures)} sources cannot be fetched`,
      lines: [
        `The registries of ${formatFull(data.failures)} sources were asked three times or more without success.`,
        ...listed(data, ({ kind, name, error }) => `${kind} ${quoted(name)}: ${oneLine(error)}`),
        "They are asked again automatically. Days that they still have are backfilled.",
      ],
      small: ONCE_AN_HOUR,
      ...sources,
    };
  const source = `${data.kind} ${quoted(data.name)}`;
  return {
    subject: `${quoted(owner)}: the counts of ${source} cannot be fetched`,
    lines: [
      `The registry of ${source} was asked three times or more without success. The last time it was: ` +
        oneLine(data.error, 500),
      "It is asked again by itself. Days that it still has are made up for.",
    ],
    ...sources,
  };
}
