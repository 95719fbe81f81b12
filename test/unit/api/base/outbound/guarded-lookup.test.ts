import type { LookupAddress } from "node:dns";
import { describe, expect, test } from "vitest";
import { AddressNotAllowed, createAddressGuard } from "../../../../../api/base/outbound/guard-address.js";

const good = { address: "93.184.216.34", family: 4 };
const goodToo = { address: "2606:4700:4700::1111", family: 6 };
const bad = { address: "10.0.0.1", family: 4 };
const badToo = { address: "::1", family: 6 };

/** A guard over a name whose addresses are another at each lookup. */
function guardOver(...answers: LookupAddress[][]) {
  const left = [...answers];
  return createAddressGuard({ allowPrivateNetworks: false }, async () => {
    const answer = left.shift();
    if (answer === undefined) throw new Error("queryA ENOTFOUND");
    return answer;
  });
}

function lookUp(guard: ReturnType<typeof guardOver>, options: { all?: boolean } = { all: true }) {
  return new Promise((resolve, reject) => {
    guard.lookup("hooks.example.org", options, (error, address, family) =>
      error === null ? resolve(options.all === true ? address : { address, family }) : reject(error),
    );
  });
}

describe("a name", () => {
  test("gives the addresses that were checked", async () => {
    expect(await lookUp(guardOver([good, goodToo]))).toEqual([good, goodToo]);
    expect(await lookUp(guardOver([good, goodToo]), {})).toEqual(good);
  });

  test.each([
    ["a bad address", [bad]],
    ["a good and a bad one", [good, bad]],
    ["a bad one last", [good, goodToo, badToo]],
  ])("with %s is refused", async (_, addresses) => {
    await expect(lookUp(guardOver(addresses))).rejects.toThrow(AddressNotAllowed);
    expect(await guardOver(addresses).faultNow("https://hooks.example.org/")).toContain("must not point to");
  });

  test("that turned bad since it was checked is refused when it is connected to", async () => {
    const guard = guardOver([good], [bad]);
    expect(await guard.faultNow("https://hooks.example.org/")).toBeUndefined();
    await expect(lookUp(guard)).rejects.toThrow(AddressNotAllowed);
  });

  test("that nobody knows may be known later, and is not connected to", async () => {
    expect(await guardOver().faultNow("https://hooks.example.org/")).toBeUndefined();
    await expect(lookUp(guardOver())).rejects.toThrow("ENOTFOUND");
  });
});

test("an address is not looked up", async () => {
  expect(await guardOver([bad]).faultNow("http://93.184.216.34/")).toBeUndefined();
  expect(await guardOver([good]).faultNow("http://10.0.0.1/")).toContain("must not point to 10.0.0.1");
});
