import { describe, expect, it } from "vitest";
import { addressOf } from "../../../../../enrich/lookups/parse-address.js";
import { findAsnOwner, readAsnOwner } from "../../../../../enrich/lookups/networks/asn-table.js";
import { parseAsnCsv } from "../../../../../enrich/lookups/networks/parse-asn-csv.js";
import { testTable } from "../../../../support/test-table.js";

const TEXT = `1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."
1.0.4.0,1.0.7.255,38803,Gtelecom Pty Ltd
255.0.0.0,255.255.255.255,7,"The ""Seven"" Société"
2001:db8::,2001:db8::ffff,64496,Documentation
2001:db8:1::,2001:db8:1:ffff:ffff:ffff:ffff:ffff,13335,"Cloudflare, Inc."
`;
/** The same ranges, addresses as numbers, CR LF at the line ends and none at the last. */
const NUMBERS = `16777216,16777471,13335,"Cloudflare, Inc."\r
16778240,16779263,38803,Gtelecom Pty Ltd\r
4278190080,4294967295,7,"The ""Seven"" Société"\r
42540766411282592856903984951653826560,42540766411282592856903984951653892095,64496,Documentation\r
42540766411283801782723599580828532736,42540766411285010708543214210003238911,13335,"Cloudflare, Inc."`;

const CLOUDFLARE = { asn: 13335, organization: "Cloudflare, Inc." };
const DOCUMENTATION = { asn: 64496, organization: "Documentation" };

function parse(text: string) {
  return parseAsnCsv([{ path: "/data/asn.csv", bytes: Buffer.from(text) }]);
}

describe.each([
  ["addresses as text", TEXT],
  ["addresses as numbers", NUMBERS],
])("a table with %s", (_form, text) => {
  const table = parse(text);

  const ownerOf = (address: string) => readAsnOwner(table, findAsnOwner(table, addressOf(address)));

  testTable("knows the owner of %s: %j", ownerOf, [
    ["1.0.0.0", CLOUDFLARE],
    ["1.0.0.255", CLOUDFLARE],
    ["1.0.5.1", { asn: 38803, organization: "Gtelecom Pty Ltd" }],
    ["255.255.255.255", { asn: 7, organization: 'The "Seven" Société' }],
    ["2001:db8::", DOCUMENTATION],
    ["2001:db8::ffff", DOCUMENTATION],
    ["2001:db8:1:2::3", CLOUDFLARE],
  ]);

  it.each([
    "0.0.0.0",
    "1.0.1.0",
    "1.0.3.255",
    "254.255.255.255",
    "2001:db8::1:0",
    "::",
    "ffff::",
    "nonsense",
    "",
  ])("knows no owner of %j", (address) => {
    expect(findAsnOwner(table, addressOf(address))).toBe(-1);
  });

  it("lies in memory that threads share", () => {
    const ranges = [table.ipv4, table.ipv6].flatMap(({ starts, ends, owners }) => [starts, ends, owners]);
    const arrays = [table.numbers, table.nameEnds, table.names, ...ranges];
    expect(arrays.every((array) => array.buffer instanceof SharedArrayBuffer)).toBe(true);
  });
});

describe("a table that is not usable", () => {
  it.each([
    ["1.0.0.0,1.0.0.255,13335", "line 1 has fewer than four columns"],
    [
      "1.0.0.0,1.0.0.255,13335,A\n\n1.0.1.0,x,1,B",
      "line 3 does not start with two IP addresses of the same family",
    ],
    ["1.0.0.0,2001:db8::,13335,A", "line 1 does not start with two IP addresses of the same family"],
    ["1.0.0.0,1.0.0.255,AS13335,A", "line 1 has no AS number in its third column"],
    ["1.0.0.0,1.0.0.255,4294967296,A", "line 1 has no AS number in its third column"],
    [
      "2.0.0.0,2.0.0.255,1,A\n1.0.0.0,1.0.0.255,1,A",
      "line 2 starts at a lower IP address than the previous range",
    ],
  ])("%j is refused, naming file and line", (text, fault) => {
    expect(() => parse(text)).toThrow(`The ASN database /data/asn.csv is invalid: ${fault}`);
  });
});
