import { describe, expect, test } from "vitest";
import { decodeBody } from "./decode-body.js";

const CLIENT = "141.113.0.20";
const REST = '[10/Nov/2026:08:00:00 +0000] "GET /releases/tool-1.4.0.tgz HTTP/1.1" 200 2326 "-" "curl/8.5.0"';
const NOT_KNOWN =
  "Unknown client: the line has no IP address in the expected place, or several addresses and no " +
  "indication of which one is the client's";
const read = (line: string) => decodeBody(line, { format: "combined" });
const event = (address: string) => [
  expect.objectContaining({
    $remote_address: address,
    $user_agent: "curl/8.5.0",
    file: "/releases/tool-1.4.0.tgz",
  }) as Record<string, unknown>,
];

describe("the client of a line in the format combined is read", () => {
  test.each([
    [`${CLIENT} - - `],
    [`${CLIENT} - frank `],
    [`${CLIENT} ident frank `],
    [`${CLIENT} - John Smith `],
    [`${CLIENT} `],
    [`example.org ${CLIENT} - - `],
    [`example.org:443 ${CLIENT} - - `],
    [`_ ${CLIENT} - - `],
    [`- ${CLIENT} - - `],
    [`*.example.org ${CLIENT} - - `],
    [`localhost ${CLIENT} - - `],
    [`"example.org" ${CLIENT} - - `],
    [`10.0.0.5 ${CLIENT} - - `],
    [`10.0.0.5:443 ${CLIENT} - - `],
    [`52.29.0.1:443 ${CLIENT} - - `],
    [`[2001:db8::2]:443 ${CLIENT} - - `],
    [`[2001:db8::2] ${CLIENT} - - `],
    [`[2a00:1450:4001:80b::200e] ${CLIENT} - - `],
    [`example.org ${CLIENT} - John Smith `],
    [`example.org ${CLIENT} ident frank `],
    [`example.org ${CLIENT} `],
    [`${CLIENT} example.org - - `],
    [`${CLIENT}, 10.0.0.1 - - `],
    [`${CLIENT},10.0.0.1 - - `],
    [`${CLIENT}, 172.68.0.1, 10.0.0.1 - - `],
    [`"${CLIENT}, 10.0.0.1" - - `],
    [`10.1.2.3, ${CLIENT}, 172.68.0.1 - - `],
    [`unknown, ${CLIENT} - - `],
    [`, ${CLIENT} - - `],
    [`example.org ${CLIENT}, 10.0.0.1 - - `],
    [`${CLIENT}, 172.68.0.1 10.0.0.1 - - `],
    [`${CLIENT}:60162 - - `],
    [`[${CLIENT}] - - `],
    [`[${CLIENT}]:60162 - - `],
    [`example.org ${CLIENT}:60162 - - `],
    [`${CLIENT}:60162, 10.0.0.1:80 - - `],
    [`${CLIENT} - [${CLIENT}] - - `],
    [`${CLIENT} - [${CLIENT}, 10.0.0.1] - - `],
  ])("%s", (head) => expect(read(head + REST)).toEqual(event(CLIENT)));

  test.each([
    ["[2a00:1450::200e]:60162 - - ", "2a00:1450::200e"],
    ["2a00:1450::200e, 10.0.0.1 - - ", "2a00:1450::200e"],
    ["[2a00:1450::200e]:60162, 10.0.0.1 - - ", "2a00:1450::200e"],
    ["fd00::1, 2a00:1450::200e - - ", "2a00:1450::200e"],
    [`::ffff:${CLIENT} - - `, `::ffff:${CLIENT}`],
    [`::ffff:${CLIENT}:60162 - - `, `::ffff:${CLIENT}`],
    ["fe80::a%eth0 - - ", "fe80::a"],
    ["10.0.0.9, 10.0.0.1 - - ", "10.0.0.9"],
    ["52.29.0.1:443 10.0.0.9 - - ", "10.0.0.9"],
    ["10.0.0.9 ident frank ", "10.0.0.9"],
  ])("%s", (head, address) => expect(read(head + REST)).toEqual(event(address)));

  test("behind a proxy of the own network, at the end of nginx's format main", () => {
    expect(read(`172.18.0.1 - - ${REST} "${CLIENT}, 10.0.0.1"`)).toEqual(event(CLIENT));
    for (const none of ["-", "unknown"])
      expect(read(`172.18.0.1 - - ${REST} "${none}"`)).toEqual(event("172.18.0.1"));
    // Whoever connects directly may send any header.
    expect(read(`${CLIENT} - - ${REST} "8.8.8.8"`)).toEqual(event(CLIENT));
  });
});

describe("a line whose client is not known is refused", () => {
  test.each([
    "- - - ",
    "unknown - - ",
    "client.example.com - - ",
    "client.example.com ident frank ",
    "example.org client.example.com - - ",
    "example.org:443 client.example.com - - ",
    "10.0.0.5 client.example.com - - ",
    "52.29.0.1:443 client.example.com - - ",
    `client.example.com - ${CLIENT} `,
    `${CLIENT}.static.example.net - - `,
    "20-0-113-141.example.net - - ",
    `52.29.0.1 ${CLIENT} - - `,
    `${CLIENT} 10.0.0.1 - - `,
    "141.113.0 - - ",
    "141.113.0.256 - - ",
    "2372993044 - - ",
    "0x8d710014 - - ",
    "unknown, - - - ",
    "_hidden, _proxy - - ",
    `${CLIENT} - - 141.113.0.21 - - `,
  ])("%s", (head) => expect(read(head + REST)).toEqual([NOT_KNOWN]));
});

describe("a line is read without what shippers put before it", () => {
  const line = `${CLIENT} - - ${REST}`;
  test.each([
    "nginx-1  | ",
    "web_nginx_1 | ",
    "\u001b[36mnginx-1  | \u001b[0m",
    "\u001b[36mnginx-1\u001b[0m  | ",
    "nginx-1  | 2026-11-10T08:00:00.123456789Z ",
    "<190>Nov 10 08:00:00 web1 nginx: ",
    "<190>Nov  1 08:00:00 web1 nginx: ",
    "<190>Nov 10 08:00:00 nginx: ",
    "<190>Nov 10 08:00:00 10.0.0.5 nginx: ",
    "<190>Nov 10 08:00:00 52.29.0.1 nginx[12]: ",
    "Nov 10 08:00:00 web1 nginx[123]: ",
    "Nov 10 08:00:00.123456 web1 nginx[123]: ",
    "2026-11-10T08:00:00+0000 web1 nginx[123]: ",
    "2026-11-10T08:00:00.123456+00:00 web1 nginx: ",
    "<190>2026-11-10T08:00:00.123456+00:00 web1 nginx: ",
    "<190>1 2026-11-10T08:00:00.003Z web1 nginx 1234 - - ",
    '<190>1 2026-11-10T08:00:00.003Z 52.29.0.1 nginx - access [id@32473 a="[x]" b="\\""] ',
    "<190>1 - - - - - - \ufeff",
    "312 <190>1 2026-11-10T08:00:00.003Z web1 nginx 1234 - - ",
    "2026-11-10T08:00:00.1Z stdout F ",
    "2026-11-10T08:00:00.123456789+01:00 stderr F ",
    "2026-11-10T08:00:00.123456789Z ",
    "[pod/web-5d8/nginx] ",
    "[pod/web-5d8/nginx] 2026-11-10T08:00:00.123456789Z ",
  ])("%j", (prefix) => {
    expect(read(prefix + line)).toEqual(event(CLIENT));
    expect(read(`${prefix}client.example.com - - ${REST}`)).toEqual([NOT_KNOWN]);
  });

  test("nor JSON around it", () => {
    const docker = (log: string) => JSON.stringify({ log, stream: "stdout", time: "2026-11-10T08:00:00.1Z" });
    expect(read(docker(`${line}\n`))).toEqual(event(CLIENT));
    expect(read(docker(`nginx-1  | ${line}\r\n`))).toEqual(event(CLIENT));
    expect(read(JSON.stringify({ _HOSTNAME: "web1", MESSAGE: line }))).toEqual(event(CLIENT));
    expect(read(docker("2026/11/10 08:00:00 [notice] 1#1: using epoll\n"))).toEqual([
      "Not a valid line of the format combined",
    ]);
  });

  test.each([`2026-11-10T08:00:00.1Z stdout P ${line}`, JSON.stringify({ log: line, stream: "stdout" })])(
    "a part of one is refused: %s",
    (part) =>
      expect(read(part)).toEqual([
        "Incomplete line: it was truncated in transit. Send the log as the server wrote it",
      ]),
  );

  test.each([
    ["caddy", { ts: 1.6e9, status: 200, request: { method: "GET", uri: "/a", remote_ip: CLIENT } }],
    [
      "traefik",
      {
        level: "info",
        StartUTC: "2026-11-10T08:00:00Z",
        DownstreamStatus: 200,
        RequestMethod: "GET",
        RequestPath: "/a",
        ClientHost: CLIENT,
      },
    ],
  ] as const)("before JSON of %s", (format, entry) => {
    const json = JSON.stringify(entry);
    const wrapped = [
      `${format}-1  | ${json}`,
      `2026-11-10T08:00:00.1Z stdout F ${json}`,
      `<190>Nov 10 08:00:00 web1 ${format}: ${json}`,
      JSON.stringify({ log: `${json}\n`, stream: "stderr", time: "2026-11-10T08:00:00Z" }),
      JSON.stringify({ MESSAGE: json }),
    ];
    for (const one of wrapped)
      expect(decodeBody(one, { format })).toMatchObject([{ $remote_address: CLIENT }]);
  });
});

describe("the client of a log of objects or columns", () => {
  const traefik = (fields: object) =>
    decodeBody(
      JSON.stringify({
        StartUTC: "2026-11-10T08:00:00Z",
        DownstreamStatus: 200,
        RequestMethod: "GET",
        RequestPath: "/a",
        ...fields,
      }),
      { format: "traefik" },
    );
  const caddy = (request: object) =>
    decodeBody(
      JSON.stringify({ ts: 1.6e9, status: 200, request: { method: "GET", uri: "/a", ...request } }),
      {
        format: "caddy",
      },
    );
  const cloudfront = (address: string) =>
    decodeBody(`2026-11-01\t08:00:00\tFRA2\t1\t${address}\tGET\tx\t/a\t200\t-\tcurl/8\t-`, {
      format: "cloudfront",
    });
  const s3 = (address: string) =>
    decodeBody(
      `o b [01/Nov/2026:08:00:00 +0000] ${address} - R REST.GET.OBJECT a "GET /a HTTP/1.1" 200 - 1 1 1 1 "-" "curl/8" -`,
      { format: "s3" },
    );

  test("is read", () => {
    const known = [
      traefik({ ClientHost: `${CLIENT}, 172.68.0.1` }),
      traefik({ ClientHost: CLIENT, ClientAddr: "10.0.0.1:80" }),
      traefik({ ClientAddr: `${CLIENT}:60162` }),
      caddy({ client_ip: CLIENT, remote_ip: "172.68.0.1" }),
      caddy({ client_ip: "", remote_ip: CLIENT }),
      caddy({ remote_addr: `${CLIENT}:60162` }),
      caddy({ remote_addr: `[${CLIENT}]:60162` }),
      cloudfront(CLIENT),
      s3(CLIENT),
    ];
    for (const one of known) expect(one).toMatchObject([{ $remote_address: CLIENT }]);
  });

  test("is read behind a proxy of the server's own network", () => {
    const headers = (...values: string[]) => ({ headers: { "X-Forwarded-For": values } });
    const known = [
      traefik({ ClientHost: "10.0.0.1", "request_X-Forwarded-For": CLIENT }),
      traefik({ ClientAddr: "[fd00::1]:80", "request_X-Forwarded-For": `${CLIENT}, 10.0.0.9` }),
      caddy({ client_ip: "10.0.0.1", ...headers(CLIENT) }),
      caddy({ remote_ip: "127.0.0.1", ...headers(`${CLIENT}, 10.0.0.9`) }),
      caddy({ remote_ip: "127.0.0.1", ...headers("10.0.0.9", CLIENT) }),
      caddy({ remote_ip: CLIENT, ...headers("17.253.144.10") }),
      traefik({ ClientHost: CLIENT, "request_X-Forwarded-For": "17.253.144.10" }),
    ];
    for (const one of known) expect(one).toMatchObject([{ $remote_address: CLIENT }]);
    const own = caddy({ remote_ip: "10.0.0.1", ...headers("192.168.1.1") });
    expect(own).toMatchObject([{ $remote_address: "10.0.0.1" }]);
  });

  test("or the line is refused", () => {
    const unknown = [
      traefik({}),
      traefik({ ClientHost: "client.example.com" }),
      traefik({ ClientHost: "-", ClientAddr: "@" }),
      caddy({}),
      caddy({ remote_ip: "REDACTED" }),
      caddy({ remote_ip: 7 }),
      cloudfront("-"),
      cloudfront("client.example.com"),
      s3("-"),
    ];
    for (const one of unknown) expect(one).toEqual([NOT_KNOWN]);
  });
});
