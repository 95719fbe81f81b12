import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { LatestEvent } from "../../../../../../aggregate/queries/events/latest-events.js";
import { countStreams } from "../../../../../../api/features/statistics/live/count-streams.js";
import {
  type LiveScope,
  openEventStream,
} from "../../../../../../api/features/statistics/live/event-stream.js";
import {
  type Follower,
  type LiveFeeds,
  openLiveFeeds,
} from "../../../../../../api/features/statistics/live/live-feeds.js";

const event = (id: string, artifact: string) =>
  ({ id, artifact_id: artifact, type: "file-download" }) as LatestEvent;
const named = (...ids: string[]) => new Map(ids.map((id) => [id, `the ${id}`]));

describe("feeds", () => {
  test("ask once for all who follow an owner, hand each what it may see, and no event twice", async () => {
    const asked: string[][] = [];
    using feeds = openLiveFeeds(
      async ({ artifacts }) => {
        asked.push([...artifacts]);
        return [event("3", "a"), event("2", "b"), event("1", "a")];
      },
      { everyMs: 1 },
    );
    const seen = { one: [] as string[], other: [] as string[] };
    const follow = (names: Follower["names"], to: string[]) =>
      feeds.follow("acme", { names, onEvents: (events) => void to.push(...events.map(({ id }) => id)) });
    const followed = [follow(named("a"), seen.one), follow(named("a", "b"), seen.other)];
    await expect.poll(() => asked.length).toBeGreaterThan(2);
    expect(asked.at(-1)?.toSorted()).toEqual(["a", "b"]);
    expect(seen).toEqual({ one: ["3", "1"], other: ["3", "2", "1"] });
    for (const each of followed) each[Symbol.dispose]();
  });

  test("hand at most ten events at a time, the newest", async () => {
    const many = Array.from({ length: 30 }, (_, index) => event(String(30 - index), "a"));
    using feeds = openLiveFeeds(async () => many, { everyMs: 1 });
    const got = await new Promise<LatestEvent[]>((resolve) => {
      feeds.follow("acme", { names: named("a"), onEvents: resolve });
    });
    expect(got.map(({ id }) => Number(id))).toEqual([30, 29, 28, 27, 26, 25, 24, 23, 22, 21]);
  });

  test("ask nothing once nobody follows", async () => {
    let asked = 0;
    using feeds = openLiveFeeds(async () => [event(String(asked++), "a")], { everyMs: 1 });
    const followed = feeds.follow("acme", { names: named("a"), onEvents: () => followed[Symbol.dispose]() });
    await expect.poll(() => asked).toBe(1);
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(asked).toBe(1);
  });
});

describe("a stream", () => {
  const scope: LiveScope = { ownerId: "acme", names: named("a") };

  /** A stream whose feed hands events when it is told to. */
  function openStream(readScope: () => Promise<LiveScope>) {
    const followers = new Set<Follower>();
    const closing = new AbortController();
    const feeds: LiveFeeds = {
      closed: closing.signal,
      follow(_, follower) {
        followers.add(follower);
        return { [Symbol.dispose]: () => void followers.delete(follower) };
      },
      [Symbol.dispose]: () => closing.abort(),
    };
    let isCut = false;
    const left = new AbortController();
    const cutOff = () => (isCut = true);
    const body = openEventStream({ feeds, scope, readScope, left: left.signal, cutOff, checkMs: 1 });
    const hand = (...events: LatestEvent[]) => {
      for (const { onEvents } of followers) onEvents(events);
    };
    return { body, feeds, left, hand, followers, wasCut: () => isCut };
  }

  test("ends when the rights of its reader end, and follows nothing after that", async () => {
    let mayRead = true;
    const { body, followers, hand } = openStream(async () => {
      if (!mayRead) throw new Error("not found");
      return scope;
    });
    let text = "";
    body.on("data", (data: Buffer) => (text += data.toString()));
    hand(event("1", "a"));
    await expect
      .poll(() => text)
      .toContain(`data: ${JSON.stringify({ ...event("1", "a"), name: "the a" })}\n\n`);
    mayRead = false;
    await expect.poll(() => body.readableEnded).toBe(true);
    expect(followers.size).toBe(0);
  });

  test.each([
    ["its feeds close", ({ feeds }: ReturnType<typeof openStream>) => feeds[Symbol.dispose]()],
    ["its reader leaves", ({ left }: ReturnType<typeof openStream>) => left.abort()],
  ])("ends when %s", async (_, end) => {
    const opened = openStream(async () => scope);
    opened.body.resume();
    end(opened);
    await expect.poll(() => opened.body.readableEnded).toBe(true);
    expect(opened.followers.size).toBe(0);
  });

  test("is cut off where its reader does not read on", () => {
    const { hand, left, wasCut } = openStream(async () => scope);
    const large = { ...event("1", "a"), company: "x".repeat(10_000) };
    for (let count = 0; count < 20; count++) hand(large);
    expect(wasCut()).toBe(false);
    for (let count = 0; count < 20; count++) hand(large);
    expect(wasCut()).toBe(true);
    left.abort();
  });
});

test("streams are counted for each account and in all, until they end", () => {
  const count = countStreams({ perAccount: 2, inAll: 3 });
  const [first] = [count("ada"), count("ada")];
  expect(() => count("ada")).toThrow("You have 2 open live streams");
  count("bob");
  expect(() => count("eve")).toThrow("Too many live streams are open");
  first?.[Symbol.dispose]();
  count("eve");
});
