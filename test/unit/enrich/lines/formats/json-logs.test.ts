import { describe, expect, test } from "vitest";
import { parseTime } from "../../../../../enrich/lines/parse-time.js";
import { decodeBody, fixture, type Read } from "./decode-body.js";

const AGENT = 'Mozilla/5.0 (X11; Linux "quoted") Gecko\\back é';

/** The requests of both fixtures are those of the other servers, after a line about the server itself. */
const WANTED: readonly Read[] = [
  "skipped",
  expect.objectContaining({ version: "1.4.0", $version: "1.4.0", $user_agent: "curl/7.88.1" }) as Read,
  expect.objectContaining({ $referrer: 'https://example.org/a?b="c"', $user_agent: AGENT }) as Read,
  "skipped",
  "skipped",
  "skipped",
  "skipped",
  expect.objectContaining({ version: "1.4.0" }) as Read,
  expect.objectContaining({ version: "1.4.0" }) as Read,
];

describe.each(["caddy", "traefik"] as const)("a log of %s", (format) => {
  const read = (text: string, path = "") => decodeBody(text, { format, path });

  test("is read as that of another server", () => {
    expect(read(fixture(`formats/${format}.txt`), "/releases/tool-{version}.tar.gz")).toEqual(WANTED);
  });

  test.each(["{}", "[1]", "no JSON", '{"$time":1600000001}', '{"request":7,"status":200,"Request":"GET"}'])(
    "refuses %s",
    (line) => expect(read(line)).toEqual([`Not a valid line of the format ${format}`]),
  );
});

test.each([
  ["unix_seconds_float", 1_794_297_600.219, 1_794_297_600_219],
  ["unix_seconds_float, cut", "1794297600.2199999999", 1_794_297_600_219],
  ["unix_seconds_float, written again by another program", "1.794297600219e9", 1_794_297_600_219],
  ["unix_milli_float", 1_794_297_600_219.5, 1_794_297_600_219],
  ["unix_nano", "1794297600219000000", 1_794_297_600_219],
  ["unix_nano, cut", "1794297600219999999", 1_794_297_600_219],
  ["unix_nano in quotes", '"1794297600219000000"', 1_794_297_600_219],
  ["iso8601", '"2026-11-10T08:00:00.219Z"', 1_794_297_600_219],
  ["iso8601 with a zone", '"2026-11-10T09:00:00.219+0100"', 1_794_297_600_219],
  ["rfc3339", '"2026-11-10T08:00:00Z"', 1_794_297_600_000],
  ["rfc3339_nano", '"2026-11-10T08:00:00.219999999Z"', 1_794_297_600_219],
  ["wall", '"2026/11/10 08:00:00"', 1_794_297_600_000],
  ["wall_milli", '"2026/11/10 08:00:00.219"', 1_794_297_600_219],
  ["wall_nano", '"2026/11/10 08:00:00.219999999"', 1_794_297_600_219],
  ["common_log", '"10/Nov/2026:08:00:00 +0000"', 1_794_297_600_000],
  ["common_log with a zone", '"10/Nov/2026:09:00:00 +0100"', 1_794_297_600_000],
])("reads the time of Caddy's time_format %s", (_, ts, time) => {
  const request = '"request":{"method":"GET","uri":"/a","remote_ip":"192.0.2.1"}';
  for (const key of ["ts", "time", "timestamp", "@timestamp"])
    expect(
      timesOf(`{"level":"info","${key}":${ts},"logger":"http.log.access",${request},"status":200}`),
    ).toEqual([time]);
});

function timesOf(text: string): (number | undefined)[] {
  const read = decodeBody(text, { format: "caddy" }) as Record<string, unknown>[];
  return read.map(({ $time }) => parseTime($time, Date.UTC(2026, 10, 11)));
}

test.each(["1794297600219000", '"tomorrow"', '"08:00:00"', "{}", "null", "17e17"])(
  "has no time for the ts %s",
  (ts) => {
    const line = `{"ts":${ts},"status":200,"request":{"method":"GET","uri":"/a","remote_ip":"192.0.2.1"}}`;
    expect(timesOf(line)).toEqual([undefined]);
  },
);

describe("a request of Caddy", () => {
  const entry = (logger: string) =>
    `{"level":"debug","ts":1.6e9,"logger":"${logger}","request":{"method":"GET","uri":"/a","client_ip":"192.0.2.1"},"status":200}`;

  test.each(["http.log.access", "http.log.access.log0", "http.log.access.downloads"])(
    "counts from the logger %s",
    (logger) => expect(decodeBody(entry(logger), { format: "caddy" })).toMatchObject([{ file: "/a" }]),
  );

  test.each([
    "http.handlers.reverse_proxy",
    "http.reverse_proxy.transport.fastcgi",
    "http.log.error.log0",
    "",
  ])("does not count again from the logger %j", (logger) =>
    expect(decodeBody(entry(logger), { format: "caddy" })).toEqual(["skipped"]),
  );
});

describe("a log that leaves out what tells a download from another request", () => {
  const request = { method: "GET", uri: "/a", client_ip: "192.0.2.1" };
  const caddy = { level: "info", ts: 1.6e9, logger: "http.log.access", request, status: 200 };
  const traefik = {
    level: "info",
    StartUTC: "2026-11-01T08:00:00Z",
    ClientHost: "192.0.2.1",
    RequestMethod: "GET",
    RequestPath: "/a",
    DownstreamStatus: 200,
  };
  const sentence = (fields: string) =>
    `The log does not contain ${fields}, so downloads cannot be recognized`;

  test.each([
    ["caddy", "request>method", { ...caddy, request: { ...request, method: undefined } }],
    ["caddy", "request>uri", { ...caddy, request: { ...request, uri: undefined } }],
    ["caddy", "status", { ...caddy, status: undefined }],
    ["caddy", "status", { ...caddy, logger: undefined, status: "200" }],
    ["caddy", "request>method, request>uri", { ...caddy, request: undefined }],
    ["traefik", "RequestMethod", { ...traefik, RequestMethod: undefined }],
    ["traefik", "RequestPath", { ...traefik, RequestPath: undefined }],
    ["traefik", "DownstreamStatus", { ...traefik, DownstreamStatus: undefined }],
    ["traefik", "RequestMethod, RequestPath, DownstreamStatus", { level: "info", RequestCount: 7 }],
  ] as const)("is refused: %s without %s", (format, fields, entry) => {
    expect(decodeBody(JSON.stringify(entry), { format })).toEqual([sentence(fields)]);
  });

  test.each(["cs-method", "cs-uri-stem", "sc-status"])("is refused: cloudfront without %s", (field) => {
    const columns = ["date", "time", "c-ip", "cs-method", "cs-uri-stem", "sc-status"];
    const cells = ["2026-11-01", "08:00:00", "192.0.2.1", "GET", "/a", "200"];
    const left = columns.filter((column) => column !== field);
    const line = cells.filter((_, at) => columns[at] !== field).join("\t");
    const header = `#Fields: ${left.join(" ")}`;
    expect(decodeBody(line, { format: "cloudfront", header })).toEqual([sentence(field)]);
    const whole = `#Fields: ${columns.join(" ")}\n${cells.join("\t")}`;
    expect(decodeBody(`${header}\n${line}\n${whole}`, { format: "cloudfront" })).toEqual([
      "skipped",
      sentence(field),
      "skipped",
      expect.objectContaining({ file: "/a" }),
    ]);
  });
});
