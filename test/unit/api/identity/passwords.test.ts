import { describe, expect, test } from "vitest";
import { Passwords, parsePhc } from "../../../../api/identity/passwords.js";

const passwords = new Passwords();

describe("a password", () => {
  test("is kept as a PHC string, and verified by it alone", async () => {
    const phc = await passwords.hash("correct horse battery");
    expect(phc).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await passwords.verify("correct horse battery", phc)).toBe(true);
    expect(await passwords.verify("correct horse batterY", phc)).toBe(false);
    expect(await passwords.hash("correct horse battery")).not.toBe(phc);
  });

  test("is the same in every form of its letters", async () => {
    const phc = await passwords.hash("cafe\u0301 au lait, cafe\u0301");
    expect(await passwords.verify("caf\u00e9 au lait, caf\u00e9", phc)).toBe(true);
  });

  test("is wrong where the account has none, whatever it is", async () => {
    expect(await passwords.verify("", undefined)).toBe(false);
    expect(await passwords.verify("correct horse battery", undefined)).toBe(false);
  });
});

test("a PHC string of other costs stays valid: a vector of RFC 7914, section 12", async () => {
  // N=16384, r=8, p=1; the first 32 of its 64 bytes.
  const key = "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2";
  const text = (buffer: Buffer) => buffer.toString("base64").replace(/=+$/, "");
  const phc = `$scrypt$ln=14,r=8,p=1$${text(Buffer.from("SodiumChloride"))}$${text(Buffer.from(key, "hex"))}`;
  expect(await passwords.verify("pleaseletmein", phc)).toBe(true);
  expect(await passwords.verify("pleaseletmeout", phc)).toBe(false);
});

test.each(["", "secret", "$scrypt$ln=15$x$y", "$argon2id$v=19$m=65536,t=2,p=1$c2FsdA$aGFzaA"])(
  "%j in the database is a fault and no password",
  (phc) => {
    expect(() => parsePhc(phc)).toThrow("no PHC string");
  },
);

test("very many at once are refused instead of waited for", async () => {
  const others = new Passwords();
  const outcomes = await Promise.allSettled(Array.from({ length: 23 }, () => others.verify("x", CHEAP)));
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(3);
});

test("a name without a password costs what a wrong password does", async () => {
  const busy = new Passwords();
  const others = Array.from({ length: 20 }, () => busy.verify("x", CHEAP));
  await expect(busy.verify("x", undefined)).rejects.toMatchObject({ code: "unavailable" });
  await Promise.all(others);
});

/** Of the lowest costs, so that the test takes no time. */
const CHEAP = "$scrypt$ln=1,r=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g";
