import { describe, expect, test } from "vitest";
import { decodeBody } from "./decode-body.js";

const PATH = "/releases/tool-{version}.tgz";

interface Cells {
  stem?: string;
  agent?: string;
  referrer?: string;
  query?: string;
}

function cloudfront({ stem = "/a", agent = "-", referrer = "-", query = "-" }: Cells, path = "") {
  const line = `2026-11-01\t08:00:00\tFRA2\t1\t192.0.2.1\tGET\tx\t${stem}\t200\t${referrer}\t${agent}\t${query}`;
  return decodeBody(line, { format: "cloudfront", path })[0];
}

const s3 = (key: string) =>
  decodeBody(
    `o b [01/Nov/2026:08:00:00 +0000] 192.0.2.1 - R REST.GET.OBJECT ${key} "GET /x HTTP/1.1" 200 - 1 1 1 1 "-" "curl/8" -`,
    { format: "s3", path: PATH },
  )[0];

describe("a path that a log has encoded", () => {
  test.each([
    ["tool-1.4.0.tgz", "1.4.0"],
    ["tool-1.4.0+b5.tgz", "1.4.0+b5"],
    ["tool-1.4.0%2Bb5.tgz", "1.4.0+b5"],
    ["tool-1.4.0%252Bb5.tgz", "1.4.0+b5"],
    ["tool-1.4.0%252bb5.tgz", "1.4.0+b5"],
    ["tool-1.4%20rc1.tgz", "1.4 rc1"],
    ["tool-1.4%2520rc1.tgz", "1.4 rc1"],
    ["tool-1.4%25C3%25A9.tgz", "1.4é"],
    ["tool-1.4%C3%A9.tgz", "1.4é"],
    ["tool-1.4%2525.tgz", "1.4%"],
    ["tool-1.4%253F.tgz", "1.4?"],
    ["tool-1.4%2523.tgz", "1.4#"],
  ])("%s has the version %s", (name, version) => {
    expect(cloudfront({ stem: `/releases/${name}` }, PATH)).toMatchObject({ version });
    expect(s3(`releases/${name}`)).toMatchObject({ version });
  });

  test("and a slash that was encoded is none", () => {
    expect(cloudfront({ stem: "/releases/tool-1.4%252F5.tgz" }, PATH)).toMatchObject({ version: "1.4/5" });
    expect(cloudfront({ stem: "/releases%252Ftool-1.4.tgz" }, PATH)).toBe("skipped");
  });

  test("as a query", () => {
    const read = (query: string) => cloudfront({ query }, "/a?f={f}");
    for (const query of ["f=a%20b", "f=a%2520b", "x=1&f=a%2520b"])
      expect(read(query)).toMatchObject({ f: "a b" });
  });
});

describe("headers in a log of CloudFront", () => {
  const FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:132.0) Gecko/20100101 Firefox/132.0";
  const once = FIREFOX.replaceAll(" ", "%20");

  test.each([
    [FIREFOX, FIREFOX],
    [once, FIREFOX],
    [encodeURIComponent(FIREFOX), FIREFOX],
    [once.replaceAll("%", "%25"), FIREFOX],
    [encodeURIComponent(encodeURIComponent(FIREFOX)), FIREFOX],
    ["My%2520App/1.0%20CFNetwork/1220.1%20Darwin/20.3.0", "My%20App/1.0 CFNetwork/1220.1 Darwin/20.3.0"],
    ["caf%C3%A9%201", "café 1"],
    ["caf%E9%201", "caf\ufffd 1"],
    ["100%%20sure", "100% sure"],
    ["curl/8.5.0", "curl/8.5.0"],
    ["%22curl/8.5.0%22", '"curl/8.5.0"'],
  ])("the agent %s is %s", (agent, expected) => {
    expect(cloudfront({ agent })).toMatchObject({ $user_agent: expected });
  });

  test("a line whose agent was encoded twice has its other texts so as well", () => {
    const agent = once.replaceAll("%", "%25");
    const line = {
      agent,
      referrer: "https://example.org/?q=a%252520b",
      stem: "/releases/tool-1%25252B2.tgz",
    };
    expect(cloudfront(line, PATH)).toMatchObject({
      $referrer: "https://example.org/?q=a%20b",
      version: "1+2",
    });
  });
});
