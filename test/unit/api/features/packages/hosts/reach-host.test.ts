import type { LookupAddress } from "node:dns";
import { expect, test } from "vitest";
import { createHostReach } from "../../../../../../api/features/packages/hosts/reach-host.js";
import { createAddressGuard } from "../../../../../../api/base/outbound/guard-address.js";

const host = "files.acme.example";
const asked = { ownerId: "acme", host };

/** Names lead to these addresses; the names that were looked up are kept. */
function reachOver(addresses: LookupAddress[] | undefined) {
  const looked: string[] = [];
  const guard = createAddressGuard({ allowPrivateNetworks: false }, async (name) => {
    looked.push(name);
    if (addresses === undefined) throw new Error("queryA ENOTFOUND");
    return addresses;
  });
  return { reach: createHostReach(guard), looked };
}

test("a name without an address is not there yet", async () => {
  expect(await reachOver(undefined).reach(asked)).toEqual({
    host,
    dns: false,
    tls: false,
    fault: `${host} has no DNS address record yet.`,
  });
});

test("an address of a private network is one of the DNS, and is not asked", async () => {
  const reached = await reachOver([{ address: "10.0.0.1", family: 4 }]).reach(asked);
  expect(reached).toMatchObject({ dns: true, tls: false });
  expect(reached.fault).toContain("outside the public internet");
});

test("a host is looked at once for all who ask at about the same time", async () => {
  const { reach, looked } = reachOver(undefined);
  await Promise.all([reach(asked), reach({ ...asked, ownerId: "other" })]);
  await reach(asked);
  expect(looked).toEqual([host]);
});
