import { type ScryptOptions, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";
import { type TakePermits, limitConcurrency } from "../../../schemas/async/limit-concurrency.js";
import { Problem } from "../../../schemas/problem.js";
import { coarseNetwork } from "./client-address.js";

/** 32 MiB and about 0.3 s of one core. The OWASP password storage cheat sheet has these numbers. */
const COST = { ln: 15, r: 8, p: 3 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** Characters. The lower limit follows NIST SP 800-63B for passwords that are the only factor. */
export const PASSWORD_LENGTH = { min: 12, max: 1000 } as const;

/** Node's thread pool has four threads for every file and name look-up, and one core is for all other work. */
const AT_ONCE = Math.min(2, Math.max(1, availableParallelism() - 1));
/** In all and of one network: those that are done within `WAIT_MS_MAX` on two slow cores. */
const WAITING = { waitingMax: 60, waitingEachMax: 10 };
const WAIT_MS_MAX = 20_000;

/**
 * Hashes and verifies passwords, a few at a time. Networks take turns, and the one whose turn is longest ago is next: who
 * guesses from one keeps nobody out who signs in from another. Throws `unavailable` while very many wait.
 */
export class Passwords {
  private readonly takeTurn: TakePermits;

  constructor(atOnce = AT_ONCE) {
    this.takeTurn = limitConcurrency({ perKey: 1, inAll: atOnce, ...WAITING });
  }

  /** A PHC string: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, both in base64 without padding. */
  async hash(password: string, { address }: From): Promise<string> {
    using _turn = await this.turnOf(address);
    const salt = randomBytes(SALT_BYTES);
    const key = await derive(password, { ...COST, salt, keyBytes: KEY_BYTES });
    const { ln, r, p } = COST;
    return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(key)}`;
  }

  /**
   * What `find` finds, if this is its password. Nothing is asked of it before there is room. Takes as long where it has no
   * password, or nothing is found.
   */
  async check<Found extends WithPassword>(
    password: string,
    { find, address }: Checking<Found>,
  ): Promise<Found | undefined> {
    using _turn = await this.turnOf(address);
    const found = await find();
    const { salt, key, ...cost } = parsePhc(found?.passwordHash ?? NO_PASSWORD);
    const derived = await derive(password, { ...cost, salt, keyBytes: key.length });
    return timingSafeEqual(derived, key) && found?.passwordHash ? found : undefined;
  }

  private async turnOf(address: string): Promise<Disposable> {
    try {
      return await this.takeTurn([coarseNetwork(address) ?? address], AbortSignal.timeout(WAIT_MS_MAX));
    } catch (cause) {
      throw new Problem("unavailable", "Too many sign-ins at the moment. Try again in a few seconds.", {
        retryAfterSeconds: 5,
        cause,
      });
    }
  }
}

interface From {
  /** The result of `clientAddress`. */
  address: string;
}

interface WithPassword {
  /** A PHC string. */
  passwordHash: string | null;
}

interface Checking<Found> extends From {
  find: () => Promise<Found | undefined>;
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
    throw new Error("a stored password is not a scrypt PHC string");
  const decoded = { salt: Buffer.from(salt, "base64"), key: Buffer.from(key, "base64") };
  return { ln: Number(ln), r: Number(r), p: Number(p), ...decoded };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

/** Checked in place of a hash that an account lacks. It costs as much as one, and no known password matches it. */
const NO_PASSWORD = `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${unpadded(randomBytes(SALT_BYTES))}$${unpadded(randomBytes(KEY_BYTES))}`;
