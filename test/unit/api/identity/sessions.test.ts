import { expect, test } from "vitest";
import { coarseNetwork } from "../../../../api/identity/sessions.js";

test.each([
  ["203.0.113.77", "203.0.113.0/24"],
  ["2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["unknown", undefined],
])("of the address %s a session keeps %j", (address, network) => {
  expect(coarseNetwork(address)).toBe(network);
});
