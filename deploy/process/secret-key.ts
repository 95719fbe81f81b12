import { hkdfSync, randomBytes } from "node:crypto";
import { join } from "node:path";
import { loadSecretFile } from "./private-files.js";
import { StartFailure } from "./start-failure.js";

export interface SecretKeySource {
  fromConfig?: Buffer | undefined;
  dataDir: { readonly path: string };
  /** Whether SECRET_KEY must be set, because processes that share a database need the same key. */
  required: boolean;
}

const KEY_BYTES = 32;

/** The 32-byte key of token lookup, encryption and origin and endpoint ids. Created in DATA_DIR unless configured. */
export async function loadSecretKey({ fromConfig, dataDir, required }: SecretKeySource): Promise<Buffer> {
  if (fromConfig !== undefined) return checked(fromConfig, "SECRET_KEY");
  if (required) {
    throw new StartFailure(
      "SECRET_KEY must be set if DATABASE_URL is set: 32 random bytes in base64, for example from `openssl " +
        "rand -base64 32`.",
    );
  }
  const path = join(dataDir.path, "secret-key");
  const text = loadSecretFile(path, () => randomBytes(KEY_BYTES).toString("base64"));
  return checked(Buffer.from(text, "base64"), path);
}

export function originKey(secretKey: Buffer): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secretKey, "", "maintainer-toolchain origin ids v1", 32));
}

function checked(key: Buffer, source: string): Buffer {
  if (key.length === KEY_BYTES) return key;
  throw new StartFailure(`${source} must be ${KEY_BYTES} bytes in base64; it has ${key.length}.`);
}
