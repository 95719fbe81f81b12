import { describe, expect, test } from "vitest";
import { decodeBody, type Read } from "./decode-body.js";

const PATH = "/releases/tool-{version}.tgz";
const version = (text: string) => [expect.objectContaining({ $version: text, version: text }) as Read];

describe("the request line of an access log", () => {
  const read = (request: string, { status = 200, path = PATH } = {}) =>
    decodeBody(`192.0.2.1 - - [10/Nov/2026:08:00:00 +0000] "${request}" ${status} 2326 "-" "curl/8.5.0"`, {
      format: "combined",
      path,
    });

  test.each([
    "GET /releases/tool-1.4.0.tgz HTTP/1.1",
    "GET /releases/tool-1.4.0.tgz HTTP/1.0",
    "GET /releases/tool-1.4.0.tgz HTTP/2.0",
    "GET /releases/tool-1.4.0.tgz HTTP/2",
    "GET /releases/tool-1.4.0.tgz HTTP/3.0",
    "GET /releases/tool-1.4.0.tgz",
    "get /releases/tool-1.4.0.tgz HTTP/1.1",
    "GET  /releases/tool-1.4.0.tgz  HTTP/1.1",
    "GET http://example.org/releases/tool-1.4.0.tgz HTTP/1.1",
    "GET https://example.org:443/releases/tool-1.4.0.tgz?x=1 HTTP/1.1",
    "GET HTTP://user:pass@[2001:db8::1]:80/releases/tool-1.4.0.tgz HTTP/1.1",
    "GET //releases///tool-1.4.0.tgz HTTP/1.1",
    "GET http://example.org//releases//tool-1.4.0.tgz HTTP/1.1",
    "GET /releases/./tool-1.4.0.tgz HTTP/1.1",
    "GET /other/../releases/tool-1.4.0.tgz HTTP/1.1",
    "GET /other/%2e%2E/releases/tool-1.4.0.tgz HTTP/1.1",
    "GET /releases/tool-1.4.0.tgz? HTTP/1.1",
    "GET /releases/tool-1.4.0.tgz?to=http://example.org//a/../b HTTP/1.1",
    "GET /releases/tool-1.4.0.tgz#top HTTP/1.1",
    "GET /rele%61ses/tool%2D1.4.0%2Etgz HTTP/1.1",
    String.raw`GET /releases/tool-1.4.0\x2Etgz HTTP/1.1`,
  ])("%s is a download", (request) => expect(read(request)).toEqual(version("1.4.0")));

  test.each([
    ["GET /releases/tool-1.4 rc1.tgz HTTP/1.1", "1.4 rc1"],
    ["GET /releases/tool-1.4%20rc1.tgz HTTP/1.1", "1.4 rc1"],
    ["GET /releases/tool-1.4.0+b5.tgz HTTP/1.1", "1.4.0+b5"],
    ["GET /releases/tool-1.4.0%2Bb5.tgz HTTP/1.1", "1.4.0+b5"],
    ["GET /releases/tool-1.4.0;b5.tgz HTTP/1.1", "1.4.0;b5"],
    [String.raw`GET /releases/tool-1.4.0\x22b5.tgz HTTP/1.1`, '1.4.0"b5'],
    [String.raw`GET /releases/tool-1.4.0\"b5.tgz HTTP/1.1`, '1.4.0"b5'],
    ['GET /releases/tool-1.4.0"b5.tgz HTTP/1.1', '1.4.0"b5'],
    [String.raw`GET /releases/tool-1.4.0\\b5.tgz HTTP/1.1`, String.raw`1.4.0\b5`],
    [String.raw`GET /releases/tool-1.4.0\\xE9.tgz HTTP/1.1`, String.raw`1.4.0\xE9`],
    [String.raw`GET /releases/tool-1.4.0\tb5.tgz HTTP/1.1`, "1.4.0\tb5"],
    [String.raw`GET /releases/tool-1.4.0\xc3\xa9.tgz HTTP/1.1`, "1.4.0é"],
    ["GET /releases/tool-1.4.0é.tgz HTTP/1.1", "1.4.0é"],
    ["GET /releases/tool-HTTP/1.1.tgz HTTP/1.1", undefined],
  ])("%s has the version %s", (request, expected) =>
    expect(read(request)).toEqual(expected === undefined ? ["skipped"] : version(expected)),
  );

  test.each([
    "HEAD /releases/tool-1.4.0.tgz HTTP/1.1",
    "POST /releases/tool-1.4.0.tgz HTTP/1.1",
    "CONNECT example.org:443 HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "GET * HTTP/1.1",
    "GET example.org:443 HTTP/1.1",
    "GET http://example.org HTTP/1.1",
    "GET http://example.org?x=1 HTTP/1.1",
    "GET /other HTTP/1.1",
    "GET",
    "-",
    "",
    String.raw`\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03`,
  ])("%j is none", (request) => expect(read(request)).toEqual(["skipped"]));

  test("without a path of downloads, the file is the path that was answered", () => {
    const files = [
      "GET http://example.org/a/b?x=1 HTTP/1.1",
      "GET //a///b#c HTTP/1.1",
      "GET /x/../a/./b HTTP/1.1",
    ];
    for (const request of files) expect(read(request, { path: "" })).toMatchObject([{ file: "/a/b" }]);
    expect(read("GET http://example.org?x=1 HTTP/1.1", { path: "" })).toMatchObject([{ file: "/" }]);
    expect(read("GET /a/b/.. HTTP/1.1", { path: "" })).toMatchObject([{ file: "/a/" }]);
  });
});

describe("fields behind the status of an access log", () => {
  const read = (behind: string) =>
    decodeBody(`192.0.2.1 - - [10/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 ${behind}`, {
      format: "combined",
    });

  test.each([
    ['1 "https://example.org/" "curl/8.5.0"', "curl/8.5.0"],
    ['1 "https://example.org/" "curl/8.5.0" "-"', "curl/8.5.0"],
    ['1 "https://example.org/" "curl/8.5.0" 12 "router@docker" "http://10.0.0.1:80" 3ms', "curl/8.5.0"],
    ['1 0.003 www.example.org "https://example.org/" "curl/8.5.0" "-"', "curl/8.5.0"],
    ['1 "https://example.org/" "curl/8.5.0', "curl/8.5.0"],
    [String.raw`1 "https://example.org/" "\"curl/8.5.0\""`, '"curl/8.5.0"'],
    ['1 "https://example.org/" ""curl/8.5.0""', '"curl/8.5.0"'],
    [String.raw`1 "https://example.org/" "a\\b \x22c\x22 \xc3\xa9"`, String.raw`a\b "c" é`],
  ])("%s", (behind, agent) =>
    expect(read(behind)).toMatchObject([{ $user_agent: agent, $referrer: "https://example.org/" }]),
  );
});

describe("a part of a file that begins later than the file is no download", () => {
  const cloudfront = (status: number, start: string) => {
    const header = "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc-range-start";
    const line = `2026-11-01\t08:00:00\t192.0.2.1\tGET\t/a\t${status}\t${start}`;
    return decodeBody(line, { format: "cloudfront", header });
  };
  const caddy = (status: number, headers: object, answered = {}) =>
    decodeBody(
      JSON.stringify({
        ts: 1.6e9,
        status,
        request: { method: "GET", uri: "/a", remote_ip: "192.0.2.1", headers },
        resp_headers: answered,
      }),
      { format: "caddy" },
    );
  const traefik = (status: number, headers: object) =>
    decodeBody(
      JSON.stringify({
        StartUTC: "2026-11-10T08:00:00Z",
        DownstreamStatus: status,
        RequestMethod: "GET",
        RequestPath: "/a",
        ClientHost: "192.0.2.1",
        ...headers,
      }),
      { format: "traefik" },
    );

  test("where the log says so", () => {
    const parts = [
      cloudfront(206, "100"),
      caddy(206, { Range: ["bytes=100-"] }),
      caddy(206, { Range: ["bytes=-100"] }),
      caddy(206, { Range: ["bytes=1-2, 0-0"] }),
      caddy(206, {}, { "Content-Range": ["bytes 100-199/200"] }),
      traefik(206, { request_Range: "bytes=100-" }),
      traefik(206, { "downstream_Content-Range": "bytes 1-2/3" }),
    ];
    for (const part of parts) expect(part).toEqual(["skipped"]);
  });

  test("and only then", () => {
    const downloads = [
      cloudfront(206, "0"),
      cloudfront(206, "-"),
      cloudfront(200, "100"),
      caddy(206, { Range: ["bytes=0-99"] }),
      caddy(206, { Range: ["bytes=0-0,50-60"] }),
      caddy(206, {}),
      caddy(200, { Range: ["bytes=100-"] }),
      traefik(206, { request_Range: "bytes=0-" }),
      traefik(206, {}),
    ];
    for (const download of downloads) expect(download).toMatchObject([{ file: "/a" }]);
  });
});
