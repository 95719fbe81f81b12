import { describe, expect, test } from "vitest";
import { webhookBody } from "../../../api/base/outbox/webhook-outbox.js";
import { issueWebhookSecret, signatureHeaders } from "../../../api/features/webhooks/sign.js";
import { type RecordedChange, compareAnnouncements } from "../../faults/funnel/compare-announcements.js";
import type { AnnouncedCompany, Received } from "../../support/api/receivers.js";

const SECRET = issueWebhookSecret();
const AT = new Date("2025-03-01T10:00:00.123Z");
const changedAt = "2025-03-01T10:00:00.123000Z";

const CHANGES: RecordedChange[] = [
  { domain: "one.example", oldStage: null, newStage: "interest", changedAt },
  { domain: "two.example", oldStage: "interest", newStage: "investigation", changedAt },
];
const ONE: AnnouncedCompany = { domain: "one.example", name: "One", new_stage: "interest" };
const TWO: AnnouncedCompany = {
  domain: "two.example",
  name: "Two",
  old_stage: "interest",
  new_stage: "investigation",
};

/** A request as a receiver gets it. */
function arrival(
  id: string,
  companies: readonly object[],
  { secret = SECRET, owner = "acme" } = {},
): Received {
  const type = "company-funnel-stage-changed" as const;
  const body = webhookBody({ id, owner, type, data: { companies }, createdAt: AT });
  const signed = signatureHeaders({ id, body, secrets: [secret], at: new Date() });
  const headers = Object.fromEntries(
    Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { headers, body, id, at: 0 };
}

const compare = (received: readonly Received[]) =>
  compareAnnouncements(CHANGES, { owner: "acme", secret: SECRET, received });

const NONE = { missing: 0, twice: 0, unheardOf: 0, unstable: 0, unsigned: 0, malformed: 0 };

describe("changes held against what arrived", () => {
  test.each<[string, Received[], object]>([
    ["each once", [arrival("a", [ONE]), arrival("b", [TWO])], { events: 2, announced: 2 }],
    ["one event that came three times", Array<Received>(3).fill(arrival("a", [ONE, TWO])), { events: 1 }],
    ["nothing", [], { missing: 2, announced: 0, events: 0 }],
    ["one of two", [arrival("a", [TWO])], { missing: 1 }],
    ["a change under two ids", [arrival("a", [ONE, TWO]), arrival("b", [TWO])], { twice: 1, announced: 3 }],
    ["a change twice in one event", [arrival("a", [ONE, TWO, TWO])], { twice: 1 }],
    [
      "a change that is not kept",
      [arrival("a", [ONE, TWO, { ...TWO, new_stage: "inactive" }])],
      { unheardOf: 1 },
    ],
    [
      "an old stage of null where there was none",
      [arrival("a", [{ ...ONE, old_stage: null }, TWO])],
      { missing: 1, unheardOf: 1 },
    ],
    ["one id with other bytes", [arrival("a", [ONE, TWO]), arrival("a", [TWO, ONE])], { unstable: 1 }],
    [
      "a signature of another secret",
      [arrival("a", [ONE, TWO]), arrival("b", [ONE], { secret: issueWebhookSecret() })],
      { unsigned: 1 },
    ],
    ["another owner's event", [arrival("a", [ONE, TWO], { owner: "other" })], { malformed: 1 }],
    [
      "over 100 companies in one event",
      [arrival("a", [ONE, TWO, ...Array.from({ length: 99 }, (_, nth) => ({ ...ONE, domain: `${nth}` }))])],
      { malformed: 1, unheardOf: 99 },
    ],
  ])("%s", (_, received, expected) => {
    expect(compare(received)).toMatchObject({ ...NONE, ...expected });
  });
});
