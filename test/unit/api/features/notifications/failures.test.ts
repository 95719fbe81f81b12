import { describe, expect, test } from "vitest";
import { composeMessage } from "../../../../../api/features/notifications/compose-message.js";
import { chatBody } from "../../../../../api/features/notifications/formats/chat-bodies.js";
import { messageText } from "../../../../../api/features/notifications/formats/message-text.js";
import type {
  FailureOf,
  FailureEvent,
  NotificationData,
} from "../../../../../schemas/contracts/notification-event.js";
import { HOSTILE } from "../../../../support/notifications/hostile-data.js";

const failedImport = (nth: number, artifact?: string): FailureOf<"import-failed"> => ({
  import: `import-${nth}`,
  status: "done",
  ...(artifact !== undefined && { artifact }),
  events_total: 100,
  events_failed_to_import: nth,
  threshold_percent: 1,
  reason: "refused-lines",
});

function textOf(event: FailureEvent, data: NotificationData[FailureEvent]): string {
  const message = composeMessage({ event, data, owner: "acme", base: "https://stats.acme.example" });
  return messageText(message);
}

const first = { ...failedImport(1, "web"), failures: 40 };
const others = Array.from({ length: 39 }, (_, nth) => failedImport(nth + 2));

describe("a message about several failures", () => {
  test("says how many imports failed, names the first ten and leads to all of them", () => {
    const text = textOf("import-failed", { ...first, others });
    expect(text).toContain('"acme": 40 imports failed');
    expect(text).toContain('"web": 1 line rejected (1.0 %)');
    expect(text.match(/^"acme": \d+ lines rejected/gm)).toHaveLength(9);
    expect(text).toContain("And 30 more.");
    expect(text).toContain("https://stats.acme.example/dashboard/o/acme/imports\n");
  });

  test("names an import that broke off, and none twice", () => {
    const broken = { ...failedImport(2, "tool"), reason: "upload-interrupted" as const };
    const text = textOf("import-failed", { ...first, failures: 2, others: [broken] });
    expect(text).toContain('"tool": upload interrupted');
    expect(text).not.toContain("more.");
  });

  test("is about webhooks or sources as well", () => {
    const webhook = { webhook: "w", host: "crm.example", reason: "Nothing could be delivered." };
    const webhooks = textOf("webhook-disabled", { ...webhook, failures: 2, others: [webhook] });
    expect(webhooks).toContain('"acme": 2 webhooks were disabled');
    expect(webhooks.match(/crm\.\u2060example: Nothing could be delivered\./g)).toHaveLength(2);
    const source = { source: "s", kind: "npm", name: "@acme/web", error: "npm answered 503." };
    const sources = textOf("source-failed", {
      ...source,
      failures: 12,
      others: Array.from({ length: 11 }, () => source),
    });
    expect(sources).toContain('"acme": registry counts of 12 sources could not be fetched');
    expect(sources.match(/npm "@acme\/web": npm answered 503\./g)).toHaveLength(10);
    expect(sources).toContain("And 2 more.");
  });

  test("about one failure is about that one", () => {
    const text = textOf("import-failed", { ...first, failures: 1, others: [] });
    expect(text).toContain('"web": 1 line rejected (1.0 %) in an import');
    expect(text).toContain("/imports/import-1");
  });

  test.each(HOSTILE.map((text) => [text.slice(0, 40), text] as const))(
    "makes text of a name like %j",
    (_, name) => {
      const named = Array.from({ length: 9 }, (__, nth) => failedImport(nth, name));
      const data = { ...failedImport(1, name), failures: 10, others: named };
      const message = composeMessage({
        event: "import-failed",
        data,
        owner: "acme",
        base: "https://x.example",
      });
      const lines = messageText(message).split("\n");
      expect(lines.filter((line) => /^(#|>|Bcc)/.test(line))).toEqual([]);
      const slack = JSON.stringify(chatBody("slack", message));
      expect(slack.match(/</g)).toHaveLength(1);
      const { content } = chatBody("discord", message) as { content: string };
      expect(content).not.toMatch(/@(everyone|channel|here)|[^\\]\*\*bold/);
      expect(content.length).toBeLessThanOrEqual(2_000);
    },
  );
});
