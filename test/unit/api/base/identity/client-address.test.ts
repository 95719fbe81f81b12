import { describe, expect, test } from "vitest";
import { clientAddress } from "../../../../../api/base/identity/client-address.js";
import { trustsProxy } from "../../../../../deploy/roles/servers/listen.js";

const trusted = trustsProxy(["10.0.0.0/8", "2001:db8:ffff::/48"]);

interface Sent {
  remoteAddress?: string | undefined;
  forwardedFor?: string;
  forwarded?: string;
}

/** From a trusted proxy, unless said otherwise. */
const connectionOf = ({ forwardedFor, forwarded, ...socket }: Sent) => ({
  socket: { remoteAddress: "10.0.0.1", ...socket },
  headers: {
    ...(forwardedFor !== undefined && { "x-forwarded-for": forwardedFor }),
    ...(forwarded !== undefined && { forwarded }),
  },
});

describe("the client's address", () => {
  test.each([
    ["the socket's", "192.0.2.1", "", "192.0.2.1"],
    ["the socket's where nobody said that it is a proxy", "192.0.2.1", "198.51.100.7", "192.0.2.1"],
    ["what a trusted proxy says", "10.0.0.1", "198.51.100.7", "198.51.100.7"],
    ["not what the caller wrote before it", "10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"],
    ["seen through several trusted proxies", "10.0.0.1", "198.51.100.7, 10.0.0.3,10.0.0.2", "198.51.100.7"],
    ["the outermost proxy's where all are trusted", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["the proxy's where it says nothing", "10.0.0.1", "", "10.0.0.1"],
    ["the proxy's where it does not know", "10.0.0.1", "198.51.100.7, unknown", "10.0.0.1"],
    ["without the port of it", "10.0.0.1", "198.51.100.7:4711", "198.51.100.7"],
    ["IPv4 where it is mapped into IPv6", "::ffff:192.0.2.1", "", "192.0.2.1"],
    ["that of a mapped proxy's client", "::ffff:10.0.0.1", "::ffff:198.51.100.7", "198.51.100.7"],
    ["the /64 of IPv6", "2001:DB8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"],
    ["the /64 of shortened IPv6", "2001:db8::1", "", "2001:db8:0:0::/64"],
    ["the /64 where zeros are left out in it", "2001:db8::2:0:0:0:1", "", "2001:db8:0:2::/64"],
    ["the /64 of an address with a zone", "fe80::1%eth0", "", "fe80:0:0:0::/64"],
    ["the /64 of an address with an IPv4 end", "::192.0.2.1", "", "0:0:0:0::/64"],
    ["IPv6 from an IPv6 proxy", "2001:db8:ffff::1", "[2001:db8:1::9]:443", "2001:db8:1:0::/64"],
    ["unknown where the connection is gone", undefined, "198.51.100.7", "unknown"],
  ])("is %s", (_, remoteAddress, forwardedFor, address) => {
    expect(clientAddress(connectionOf({ remoteAddress, forwardedFor }), trusted)).toBe(address);
  });

  test("is that in Forwarded where a proxy sends no X-Forwarded-For", () => {
    const connection = connectionOf({ forwarded: 'for=203.0.113.9, for="[2001:db8:1:2::7]:443"' });
    expect(clientAddress(connection, trusted)).toBe("2001:db8:1:2::/64");
  });
});
