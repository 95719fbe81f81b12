import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** An authority of a test's own, made with openssl. */
export interface Authority {
  /** The path of its certificate. */
  ca: string;
  /** Paths of a certificate that it has signed, and of its key. `names` is such as `DNS:localhost,IP:127.0.0.1`. */
  issue(file: string, names: string): { cert: string; key: string };
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];

/** Its files, and those of its certificates, are in the folder. */
export function makeAuthority(dir: string, name: string): Authority {
  const pathOf = (file: string, kind: "key" | "pem") => join(dir, `${name}-${file}.${kind}`);
  const make = (file: string, ...rest: string[]) => {
    const files = { cert: pathOf(file, "pem"), key: pathOf(file, "key") };
    const out = ["-keyout", files.key, "-out", files.cert];
    const args = ["req", "-x509", ...NEW_KEY, "-subj", `/CN=${file}`, ...out, ...rest];
    execFileSync("openssl", args, { stdio: "ignore" });
    return files;
  };
  const { cert: ca, key: caKey } = make("authority");
  return {
    ca,
    issue: (file, names) =>
      make(
        file,
        "-CA",
        ca,
        "-CAkey",
        caKey,
        "-addext",
        `subjectAltName=${names}`,
        "-addext",
        "basicConstraints=CA:FALSE",
      ),
  };
}

/** Key and certificate in one file, as Kafka reads them. */
export function joinPem(path: string, { cert, key }: { cert: string; key: string }): string {
  writeFileSync(path, readFileSync(key, "utf8") + readFileSync(cert, "utf8"), { mode: 0o600 });
  return path;
}
