import { expect, test, vi } from "vitest";
import { noteHosts } from "../../../../ingest/collect/sites.js";

const DAY_MS = 86_400_000;

function noting({ hostsMax = 100, fails = false } = {}) {
  const seen: string[] = [];
  const failures: unknown[] = [];
  const clock = { now: 1_000 * DAY_MS };
  const note = async (host: string) => {
    seen.push(host);
    if (fails) throw new Error("away");
  };
  const add = noteHosts({
    note,
    now: () => clock.now,
    readKnown: async () => new Set(["px.acme.example"]),
    onFailure: (error) => failures.push(error),
    hostsMax,
  });
  return { seen, failures, clock, add };
}

test("a host is noted once a day", () => {
  const { seen, clock, add } = noting();
  for (const host of ["px.acme.example", "px.acme.example", "other.example"]) add(host);
  clock.now += DAY_MS;
  add("px.acme.example");
  expect(seen).toEqual(["px.acme.example", "other.example", "px.acme.example"]);
});

test.each(["", "localhost", "127.0.0.1", "::1", "a b.example", `${"a".repeat(64)}.example`, "x.example:80"])(
  "%j can be no domain, and is not noted",
  (host) => {
    const { seen, add } = noting();
    add(host);
    expect(seen).toEqual([]);
  },
);

test("callers cannot have more hosts noted than there may be", () => {
  const { seen, add } = noting({ hostsMax: 3 });
  for (let at = 0; at < 10; at++) add(`h${at}.example`);
  expect(seen).toHaveLength(3);
});

test("a host of earlier days is noted also when others have used up the day's notes", async () => {
  const { seen, add } = noting({ hostsMax: 3 });
  for (let at = 0; at < 10; at++) add(`h${at}.example`);
  add("px.acme.example");
  add("px.acme.example");
  await vi.waitFor(() => expect(seen).toContain("px.acme.example"));
  expect(seen).toHaveLength(4);
});

test("a host that could not be noted is tried again a minute later", async () => {
  const { seen, failures, clock, add } = noting({ fails: true });
  add("px.acme.example");
  await Promise.resolve().then(() => undefined);
  add("px.acme.example");
  expect([seen.length, failures.length]).toEqual([1, 1]);
  clock.now += 60_000;
  add("px.acme.example");
  expect(seen).toHaveLength(2);
});
