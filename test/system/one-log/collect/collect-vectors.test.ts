import { describe, expect, test } from "vitest";
import {
  COLLECT_CASES,
  countEvents,
  deviatingCases,
  eventsBefore,
  literalCases,
  titled,
  type CollectCase,
  type FileRule,
} from "../../../support/collect/collect-cases.js";
import { useCollectWorld, world } from "../../../support/collect/collect-world.js";

const [literal, deviating, all] = [literalCases.length, deviatingCases.length, COLLECT_CASES.length];
const isFile = ({ rules: [rule] }: CollectCase) => rule?.type === "file-v1";
const fileCases = literalCases.filter(isFile);
const keepingCases = deviatingCases.filter(isFile);
const pixelCases = deviatingCases.filter(({ name }) => name === "pixel");

/** More literal than any path of a case, so that it takes nothing from them. */
const MARKER = { templatePath: "/marker", outgoingUrl: "" };

useCollectWorld();

/** Cases share domains: each has it until it was asked. */
const QUERY = { drilldowns: "Nation", measures: "Population" };
/** The variables of events, where they are more than the case says. */
const KEPT: Record<string, object[]> = {
  "file-package-with-events-in-its-body": [{ x: "Hello" }, { y: "World" }],
  "file-package-without-variable": [QUERY],
  "file-package-without-variable-2": [{ x: "xxx", ...QUERY }],
};

async function ask({ name, request, rules, expect: { events } }: CollectCase) {
  const host = request.headers.Host;
  const routes = (rules as FileRule[]).map((rule) => ({
    templatePath: rule["incoming-path"],
    outgoingUrl: rule["outgoing-url"] ?? "",
  }));
  const made = { name, domains: [host], routes: [...routes, MARKER] };
  const id = await world.newFilePackage(made);
  const { method, path, body } = request;
  const reply = await world.call({ method, path, host, body: body ?? undefined });
  const marker = { host, path: MARKER.templatePath };
  const got = await eventsBefore(world, { id, count: events, marker });
  await world.dropDomains(id, made.routes);
  return { reply, got };
}

describe("the answers of a package gateway are given here as well", () => {
  test(`${literal} of ${all} cases to the letter, ${deviating} but for what their titles say`, () => {
    expect([literal, deviating, all]).toEqual([11, 8, 19]);
    expect([fileCases.length, keepingCases.length, pixelCases.length]).toEqual([9, 3, 1]);
  });

  test.each(fileCases)("$name", async (each) => {
    await check(each, each.expect.variables);
  });

  test.each(titled(keepingCases))("%s", async (_, each) => {
    await check(each, KEPT[each.name] ?? []);
  });

  async function check(each: CollectCase, variables: object[]) {
    const { reply, got } = await ask(each);
    const { status, headers, body, events } = each.expect;
    expect(reply.status).toBe(status);
    for (const [name, value] of Object.entries(headers))
      expect(reply.headers[name.toLowerCase()]).toBe(value);
    expect(reply.body.toString()).toBe(body);
    expect(variables).toHaveLength(events);
    expect(got.map((event) => event.variables)).toEqual(variables);
    expect(got.map(({ type, domain }) => [type, domain])).toEqual(
      got.map(() => ["file-download", each.request.headers.Host]),
    );
  }

  test.each(titled(pixelCases))("%s", async (_, { request, expect: expected }) => {
    const known = await world.newPixel("known");
    // Changes are read in their order: with a later one the pixel is known.
    await world.newFilePackage({ name: known, domains: [`${known}.example`], routes: [MARKER] });
    const before = await countEvents(world);
    const host = request.headers.Host;
    const reply = await world.call({ path: `/${request.path}`, host });
    expect(reply.status).toBe(expected.status);
    expect(reply.headers["cache-control"]).toBe(expected.headers["Cache-control"]);
    expect(reply.headers["content-type"]).toBe(expected.headers["Content-Type"]);
    expect(Number(reply.headers["content-length"])).toBe(reply.body.length);
    expect(reply.body.subarray(1, 4).toString()).toBe("PNG");
    const marker = { path: `/a.png?x-pxid=${known}`, host };
    expect(await eventsBefore(world, { id: known, count: expected.events, marker })).toEqual([]);
    expect(await countEvents(world)).toBe(before + 1);
  });
});
