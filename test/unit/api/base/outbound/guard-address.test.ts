import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import {
  addressFault,
  hostOf,
  isPublicAddress,
  urlFault,
} from "../../../../../api/base/outbound/guard-address.js";
import { testTable } from "../../../../support/test-table.js";

const GUARDED = { allowPrivateNetworks: false };
const OPEN = { allowPrivateNetworks: true };

/** First and last address of each special range, with what is just outside where that is public. */
const REFUSED_ADDRESSES = `
  0.0.0.0 0.0.0.1 0.255.255.255
  10.0.0.0 10.1.2.3 10.255.255.255
  100.64.0.0 100.100.100.200 100.127.255.255
  127.0.0.0 127.0.0.1 127.1.2.3 127.255.255.255
  168.63.129.16 ::ffff:168.63.129.16
  169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255
  172.16.0.0 172.17.0.1 172.31.255.255
  192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.192 192.0.0.255
  192.0.2.0 192.0.2.255
  192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1
  192.168.0.0 192.168.1.1 192.168.255.255
  198.18.0.0 198.19.255.255
  198.51.100.0 198.51.100.255
  203.0.113.0 203.0.113.255
  224.0.0.0 224.0.0.251 239.255.255.255
  240.0.0.0 254.255.255.255 255.255.255.254 255.255.255.255
  :: ::1 ::2 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001
  ::127.0.0.1 ::10.0.0.1 ::8.8.8.8 ::ffff
  ::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0.0.0.0 ::ffff:192.168.0.1
  ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
  64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::192.168.0.1
  64:ff9b:0:0:0:1:808:808 64:ff9b:1:: 64:ff9b:1::8.8.8.8 64:ff9b:1:ffff:ffff:ffff:ffff:ffff
  100:: 100::1 100:0:0:1::1 200::1 400::1 1000::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1
  2001:20::1 2001:30::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:db8:: 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
  2002:: 2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101::1 2002:808:808::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2620:4f:8000::1 3fff:: 3fff:fff:ffff::1
  4000::1 5f00::1 6000::1 8000::1 a000::1 c000::1 e000::1
  fc00:: fc00::1 fd00:ec2::254 fd12:3456:789a::1 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fe00::1 fe80:: fe80::1 febf::1 fec0::1 feff::1
  ff00:: ff02::1 ff05::1:3 ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fe80::1%eth0 ::1%lo 127.0.0.1%0 127.1 0x7f.0.0.1 2130706433 localhost [::1] 8.8.8.8:80
`
  .trim()
  .split(/\s+/);

const PUBLIC_ADDRESSES = `
  1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255
  192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
  2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1 2003::1 2606:4700:4700::1111
  2620:4f:7fff::1 2a00:1450:4001:800::200e 3ffe::1 3fff:1000::1
  ::ffff:8.8.8.8 ::ffff:808:808 64:ff9b::8.8.8.8
`
  .trim()
  .split(/\s+/);

const REFUSED_URLS = [
  // No URL of the web, or one that parsers read in two ways.
  "",
  "example.org",
  "//example.org/",
  "ftp://example.org/",
  "file:///etc/passwd",
  "gopher://example.org/",
  "javascript:alert(1)",
  "data:,hook",
  "ws://example.org/",
  "unix:/run/docker.sock",
  "http:example.org",
  "http:/example.org",
  "http:///example.org",
  "http://",
  "http://?",
  "http:\\\\example.org\\",
  "http://example.org\\@10.0.0.1/",
  "http://exa mple.org/",
  " http://example.org/",
  "http://example.org/\n",
  "http://example.org/\r\nHost: internal",
  "http://example.org:99999/",
  "http://1.2.3.4.5/",
  "http://[::1/",
  "http://[fe80::1%25eth0]/",
  "http://0x100000000/",
  "http://256.1.1.1/",
  "http://./",
  "http://%00/",
  "http://example.org%2f@127.0.0.1/",
  // Credentials.
  "http://ada@example.org/",
  "http://ada:secret@example.org/",
  "http://:secret@example.org/",
  "http://example.org@127.0.0.1/",
  "https://example.org:443@[::1]/",
  // Ports of other protocols.
  ...[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  ].map((port) => `http://example.org:${port}/`),
  "http://example.org:0022/",
  // The machine itself, by its names.
  "http://localhost/",
  "http://LOCALHOST/",
  "http://localhost./",
  "http://localhost:8080/",
  "https://foo.localhost/",
  "https://foo.bar.localhost./",
  "http://localhost.localdomain/",
  "http://localhost6/",
  "http://localhost6.localdomain6/",
  "http://ip6-localhost/",
  "http://ip6-loopback/",
  "http://ⓛocalhost/",
  "http://loc%61lhost/",
  "http://ｌｏｃａｌｈｏｓｔ/",
  // Addresses, however they are written.
  "http://127.0.0.1/",
  "http://127.0.0.1./",
  "http://127.0.0.1:8080/",
  "http://127.1/",
  "http://127.0.1/",
  "http://2130706433/",
  "http://2130706433./",
  "http://0x7f000001/",
  "http://0X7F.0x0.0x0.0x1/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://0x7f.1/",
  "http://0177.1/",
  "http://127.0.0.0x1/",
  "http://１２７.０.０.１/",
  "http://127。0。0。1/",
  "http://①②⑦.⓪.⓪.①/",
  "http://%31%32%37.0.0.1/",
  "http://0/",
  "http://0.0.0.0/",
  "http://00000000000/",
  "http://0x0/",
  "http://10.0.0.1/",
  "http://167772161/",
  "http://0xa000001/",
  "http://012.0.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://0251.0376.0251.0376/",
  "http://192.168.1/",
  "http://3232235777/",
  "http://172.16.0.1:3000/",
  "http://100.100.100.200/",
  "http://255.255.255.255/",
  "http://4294967295/",
  "http://[::]/",
  "http://[::1]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[0000:0000:0000:0000:0000:0000:0000:0001]:8080/",
  "http://[::127.0.0.1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[0:0:0:0:0:ffff:127.0.0.1]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b::169.254.169.254]/",
  "http://[64:ff9b:1::8.8.8.8]/",
  "http://[2002:7f00:1::]/",
  "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
  "http://[2001:db8::1]/",
  "http://[fc00::1]/",
  "http://[fd00:ec2::254]/",
  "http://[FE80::1]/",
  "http://[ff02::1]/",
];

const ALLOWED_URLS = [
  "http://example.org",
  "https://example.org/",
  "HTTPS://Example.ORG/Hook?token=a#part",
  "https://example.org:443/",
  "http://example.org:80/",
  "https://example.org:8443/hook",
  "http://example.org:65535/",
  "https://example.org./",
  "https://bücher.example/",
  "https://a_b.example.org/",
  "https://localhost.example.org/",
  "https://notlocalhost/",
  "https://127.0.0.1.example.org/",
  "https://example.org/@127.0.0.1",
  "https://example.org/?url=http://127.0.0.1/",
  "http://8.8.8.8/",
  "http://134744072/",
  "http://[2606:4700:4700::1111]/",
  "http://[::ffff:8.8.8.8]/",
  "http://[64:ff9b::808:808]/",
];

const VECTORS =
  REFUSED_ADDRESSES.length + PUBLIC_ADDRESSES.length + REFUSED_URLS.length + ALLOWED_URLS.length;

describe(`the ${VECTORS} vectors of the guard`, () => {
  test.each(REFUSED_ADDRESSES)("the address %s is refused", (address) => {
    expect(addressFault(address, GUARDED)).toContain("must not point to");
  });

  test.each(PUBLIC_ADDRESSES)("the address %s is public", (address) => {
    expect(addressFault(address, GUARDED)).toBeUndefined();
  });

  test.each(REFUSED_URLS.map((url) => [JSON.stringify(url), url]))("the URL %s is refused", (_, url) => {
    expect(urlFault(url, GUARDED)).toMatch(/^must /);
  });

  test.each(ALLOWED_URLS)("the URL %s is allowed", (url) => {
    expect(urlFault(url, GUARDED)).toBeUndefined();
  });
});

describe("with private networks allowed", () => {
  test.each([
    "http://127.0.0.1:8080/",
    "http://localhost/",
    "http://[::1]/",
    "http://10.0.0.1/",
    "http://127.0.0.1:9/",
  ])("%s is allowed", (url) => expect(urlFault(url, OPEN)).toBeUndefined());

  test.each(["ftp://127.0.0.1/", "http://ada@127.0.0.1/", "http://./"])("%s is refused all the same", (url) =>
    expect(urlFault(url, OPEN)).toMatch(/^must /),
  );
});

test("no IPv4 address passes in another form that does not pass in its own", () => {
  const octet = fc.nat(255);
  fc.assert(
    fc.property(octet, octet, octet, octet, (a, b, c, d) => {
      const dotted = `${a}.${b}.${c}.${d}`;
      const value = ((a * 256 + b) * 256 + c) * 256 + d;
      const forms = [`${value}`, `0x${value.toString(16)}`, `0${value.toString(8)}`, `${dotted}.`];
      const passes = urlFault(`http://${dotted}/`, GUARDED) === undefined;
      for (const form of [...forms, `[::ffff:${dotted}]`, `[64:ff9b::${dotted}]`])
        expect(urlFault(`http://${form}/`, GUARDED) === undefined).toBe(passes);
      expect(urlFault(`http://[::${dotted}]/`, GUARDED)).toMatch(/^must /);
      expect(isPublicAddress(dotted)).toBe(passes);
    }),
  );
});

testTable("the host of %s is %s", (url) => hostOf(new URL(url)), [
  ["http://[::1]:8080/", "::1"],
  ["http://Example.ORG./", "example.org"],
]);
