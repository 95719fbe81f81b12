import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCollectWorld, type CollectWorld } from "../support/collect-world.js";

/** See `about` in the file. */
interface Case {
  name: string;
  request: { method: string; path: string; headers: { Host: string }; body: string | null };
  rules: Rule[];
  expect: {
    status: number;
    headers: Record<string, string>;
    variables: Record<string, string>[];
    events: number;
    body: string;
  };
}

interface Rule {
  type: "file-v1" | "docker-v1" | "python-v1";
  domain: string;
  "incoming-path": string;
  "outgoing-url": string | null;
}

const { cases } = JSON.parse(readFileSync("test/fixtures/collect/cases.json", "utf8")) as { cases: Case[] };

/** Cases that are about the routes of file packages, or pixels. */
const fileCases = cases.filter(({ rules }) => rules.some(({ type }) => type === "file-v1"));
const pixelCases = cases.filter(({ name }) => name === "pixel");

let world: CollectWorld;
beforeAll(async () => void (world = await openCollectWorld()));
afterAll(() => world?.[Symbol.asyncDispose]());

/** Cases share domains: each has it until it was asked. */
async function ask({ name, request, rules }: Case) {
  const domains = [request.headers.Host];
  const routes = rules.map((rule) => ({
    templatePath: rule["incoming-path"],
    outgoingUrl: rule["outgoing-url"] ?? "",
  }));
  const id = await world.newFilePackage({ name, domains, routes });
  const { method, path, body } = request;
  const reply = await world.call({ method, path, host: request.headers.Host, body: body ?? undefined });
  await world.dropDomains(id, routes);
  return { id, reply };
}

describe("what a package gateway answers, this one answers", () => {
  test("the cases of file packages and pixels are all there", () => {
    expect(fileCases.length + pixelCases.length).toBe(13);
  });

  test.each(fileCases)("$name", async (each) => {
    const { id, reply } = await ask(each);
    const { status, headers, body, events, variables } = each.expect;
    expect(reply.status).toBe(status);
    for (const [name, value] of Object.entries(headers))
      expect(reply.headers[name.toLowerCase()]).toBe(value);
    expect(reply.body.toString()).toBe(body);
    expect(variables).toHaveLength(events);
    const stored = async () => {
      const all = await world.events(id);
      return all.flatMap((event) => Array<typeof event>(event.times).fill(event));
    };
    await expect.poll(async () => (await stored()).length).toBe(events);
    const got = await stored();
    expect(got.map((event) => event.variables)).toEqual(variables);
    expect(got.map(({ type, domain }) => [type, domain])).toEqual(
      got.map(() => ["file-download", each.request.headers.Host]),
    );
  });

  test.each(pixelCases)("$name, with a real picture", async ({ request, expect: expected }) => {
    const reply = await world.call({ path: `/${request.path}`, host: request.headers.Host });
    expect(reply.status).toBe(expected.status);
    expect(reply.headers["cache-control"]).toBe(expected.headers["Cache-control"]);
    expect(reply.headers["content-type"]).toBe(expected.headers["Content-Type"]);
    expect(Number(reply.headers["content-length"])).toBe(reply.body.length);
    // The case has words in its place.
    expect(reply.body.subarray(1, 4).toString()).toBe("PNG");
  });
});
