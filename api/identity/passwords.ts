import { type ScryptOptions, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Semaphore } from "async-mutex";
import { Problem } from "../../schemas/problem.js";

/** 32 MiB and about 0.3 s of one core. The OWASP password storage cheat sheet has these numbers. */
const COST = { ln: 15, r: 8, p: 3 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** Characters. The lower limit follows NIST SP 800-63B for passwords that are the only factor. */
export const PASSWORD_LENGTH = { min: 12, max: 1000 } as const;

/** Node's thread pool has four threads for every file and name look-up. */
const AT_ONCE_MAX = 2;
const WAITING_MAX = 20;

/** Hashes and verifies passwords, a few at a time. Throws `unavailable` while very many wait. */
export class Passwords {
  private readonly turns = new Semaphore(AT_ONCE_MAX);
  private waiting = 0;

  /** A PHC string: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, both in base64 without padding. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await this.derive(password, { ...COST, salt, keyBytes: KEY_BYTES });
    const { ln, r, p } = COST;
    return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(key)}`;
  }

  /** Takes as long without a hash, for an account that has no password or does not exist, and is then false. */
  async verify(password: string, phc: string | undefined): Promise<boolean> {
    const { salt, key, ...cost } = parsePhc(phc ?? NO_PASSWORD);
    const derived = await this.derive(password, { ...cost, salt, keyBytes: key.length });
    return timingSafeEqual(derived, key) && phc !== undefined;
  }

  private async derive(password: string, how: Derivation): Promise<Buffer> {
    if (this.waiting >= WAITING_MAX) throw tooMany();
    this.waiting += 1;
    try {
      return await this.turns.runExclusive(() => derive(password, how));
    } finally {
      this.waiting -= 1;
    }
  }
}

function tooMany(): Problem {
  return new Problem("unavailable", "Too many people are signing in at the moment.", {
    retryAfterSeconds: 5,
  });
}

interface Derivation {
  ln: number;
  r: number;
  p: number;
  salt: Buffer;
  keyBytes: number;
}

/** One password can be typed in several Unicode forms, by the keyboard's choice; NFKC makes them one. */
function derive(password: string, { ln, r, p, salt, keyBytes }: Derivation): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** ln, r, p, maxmem: 256 * r * (2 ** ln + p + 2) };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, keyBytes, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Hashes with older costs stay valid when the costs here change. */
export function parsePhc(phc: string): { ln: number; r: number; p: number; salt: Buffer; key: Buffer } {
  const [, ln, r, p, salt, key] = PHC.exec(phc) ?? [];
  if (salt === undefined || key === undefined)
    throw new Error("a stored password is no PHC string of scrypt");
  const decoded = { salt: Buffer.from(salt, "base64"), key: Buffer.from(key, "base64") };
  return { ln: Number(ln), r: Number(r), p: Number(p), ...decoded };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

/** Checked in place of a hash that an account lacks. It costs as much as one, and no known password matches it. */
const NO_PASSWORD = `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${unpadded(randomBytes(SALT_BYTES))}$${unpadded(randomBytes(KEY_BYTES))}`;
