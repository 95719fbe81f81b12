import type {
  ImportFailedData,
  NotificationData,
  NotificationEvent,
  SourceFailedData,
  WebhookDisabledData,
} from "../../schemas/contracts/notification-data.js";
import { path, withQuery } from "../dashboard/address.js";
import { formatFull, formatShare } from "../dashboard/parts/format.js";
import { downloadsChanged, monthlyDigest, newCompanies, weeklyDigest } from "./compose-period.js";
import { type Message, type Said, oneLine } from "./message.js";
import type { AnyData } from "./messages.js";

export interface Composed {
  event: NotificationEvent;
  data: AnyData;
  owner: string;
  baseUrl: string;
}

export function composeMessage({ event, data, owner, baseUrl }: Composed): Message {
  const compose = COMPOSERS[event] as (data: AnyData, owner: string) => Said;
  const { end, query, label, ...said } = compose(data, owner);
  const url = withQuery(`${baseUrl}/dashboard${path`/o/${owner}`}${end}`, query);
  const { correction } = data as { correction?: boolean };
  return {
    tiles: [],
    charts: [],
    small: [],
    ...said,
    ...(correction === true && {
      subject: `Correction: ${said.subject}`,
      lines: [CORRECTION, ...said.lines],
    }),
    link: { label, url },
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
  const { events_total: total, events_failed_to_import: failed, artifact, reason } = data;
  const into = artifact === undefined ? oneLine(owner) : oneLine(artifact);
  const share = formatShare(total === 0 ? 0 : failed / total);
  const isBroken = reason === "upload-interrupted";
  return {
    subject: isBroken
      ? `${into}: an import broke off`
      : `${into}: an import refused ${formatFull(failed)} lines (${share})`,
    lines: [
      isBroken
        ? `An import into ${into} broke off before its end. Nothing of it was imported: send it again.`
        : `An import into ${into} refused ${formatFull(failed)} of ${formatFull(total)} lines, ${share}. Its page says why, ` +
          "and has the lines to mend and send again.",
    ],
    small: [`You are told where more than ${data.threshold_percent} % are refused.`],
    label: "Open the import",
    end: path`/imports/${data.import}`,
  };
}

function webhookDisabled({ webhook, host, reason }: WebhookDisabledData, owner: string): Said {
  const to = oneLine(host);
  return {
    subject: `${oneLine(owner)}: the webhook to ${to} was disabled`,
    lines: [
      `The webhook to ${to} was disabled. ${oneLine(reason, 500)}`,
      "Once its receiver answers again, enable it. What happens until then is not sent to it.",
    ],
    label: "Open the webhook",
    end: path`/webhooks/${webhook}`,
  };
}

function sourceFailed({ kind, name, error }: SourceFailedData, owner: string): Said {
  const source = `${kind} ${oneLine(name)}`;
  return {
    subject: `${oneLine(owner)}: the counts of ${source} cannot be fetched`,
    lines: [
      `The registry of ${source} was asked three times or more without success. The last time it was: ` +
        oneLine(error, 500),
      "It is asked again by itself. Days that it still has are made up for.",
    ],
    label: "Open the sources",
    end: "/settings/sources",
  };
}
