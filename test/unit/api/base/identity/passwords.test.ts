import { describe, expect, test } from "vitest";
import { Passwords, parsePhc } from "../../../../../api/base/identity/passwords.js";

const passwords = new Passwords();
const address = "192.0.2.1";

const accountWith = (passwordHash: string | null) => () => Promise.resolve({ passwordHash });
const isRight = async (password: string, phc: string | null) =>
  (await passwords.check(password, { find: accountWith(phc), address })) !== undefined;

describe("a password", () => {
  test("is kept as a PHC string, and verified by it alone", async () => {
    const phc = await passwords.hash("correct horse battery", { address });
    expect(phc).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await isRight("correct horse battery", phc)).toBe(true);
    expect(await isRight("correct horse batterY", phc)).toBe(false);
    expect(await passwords.hash("correct horse battery", { address })).not.toBe(phc);
  });

  test("is the same in every form of its letters", async () => {
    const phc = await passwords.hash("cafe\u0301 au lait, cafe\u0301", { address });
    expect(await isRight("caf\u00e9 au lait, caf\u00e9", phc)).toBe(true);
  });

  test("is wrong where the account has none, whatever it is", async () => {
    expect(await isRight("", null)).toBe(false);
    expect(await isRight("correct horse battery", null)).toBe(false);
    const find = () => Promise.resolve(undefined);
    expect(await passwords.check("correct horse battery", { find, address })).toBeUndefined();
  });
});

test("a PHC string of other costs stays valid: a vector of RFC 7914, section 12", async () => {
  // N=16384, r=8, p=1; the first 32 of its 64 bytes.
  const key = "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2";
  const text = (buffer: Buffer) => buffer.toString("base64").replace(/=+$/, "");
  const phc = `$scrypt$ln=14,r=8,p=1$${text(Buffer.from("SodiumChloride"))}$${text(Buffer.from(key, "hex"))}`;
  expect(await isRight("pleaseletmein", phc)).toBe(true);
  expect(await isRight("pleaseletmeout", phc)).toBe(false);
});

test.each(["", "secret", "$scrypt$ln=15$x$y", "$argon2id$v=19$m=65536,t=2,p=1$c2FsdA$aGFzaA"])(
  "%j in the database is a fault and no password",
  (phc) => {
    expect(() => parsePhc(phc)).toThrow("not a scrypt PHC string");
  },
);

describe("while passwords are guessed", () => {
  /** Begins a guess from an address, which takes no time. */
  const guess = (on: Passwords, from: string) => on.check("x", { find: accountWith(CHEAP), address: from });
  const refusedOf = (outcomes: PromiseSettledResult<unknown>[]) =>
    outcomes.filter(({ status }) => status === "rejected").length;

  test("from one network, more than a few at once are refused, and nobody else is", async () => {
    const busy = new Passwords(2);
    const addresses = Array.from({ length: 30 }, (_, last) => `198.51.100.${last}`);
    const guesses = Promise.allSettled(addresses.map((each) => guess(busy, each)));
    expect(await guess(busy, "203.0.113.1")).toBeUndefined();
    // One is being hashed while ten wait.
    expect(refusedOf(await guesses)).toBe(19);
  });

  test("from many networks, one that was not served lately is next, also where no more may wait", async () => {
    const busy = new Passwords(2);
    const networks = Array.from({ length: 62 }, (_, third) => `10.0.${third}.1`);
    await Promise.all(networks.map((each) => guess(busy, each)));
    const ended: string[] = [];
    const again = networks.map((each) =>
      guess(busy, each).then(
        () => ended.push("guess"),
        () => ended.push("refused"),
      ),
    );
    await guess(busy, "203.0.113.1").then(() => ended.push("person"));
    await Promise.all(again);
    // Two were being hashed when it came.
    expect(ended.indexOf("person")).toBeLessThanOrEqual(3);
    expect(ended.filter((each) => each === "refused")).toHaveLength(1);
  });

  test("no account is looked up for a guess that is refused", async () => {
    const busy = new Passwords(2);
    const guesses = Promise.all(Array.from({ length: 11 }, () => guess(busy, address)));
    let lookedUp = 0;
    const find = () => Promise.resolve(void (lookedUp += 1));
    await expect(busy.check("x", { find, address })).rejects.toMatchObject({ code: "unavailable" });
    await guesses;
    expect(lookedUp).toBe(0);
  });
});

/** Of the lowest costs, so that the test takes no time. */
const CHEAP = "$scrypt$ln=1,r=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g";
