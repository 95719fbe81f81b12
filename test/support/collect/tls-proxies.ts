import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closedPort } from "../api/receivers.js";

/** A proxy of `deploy/proxy/` on ports of this machine, with a certificate that nobody trusts. */
export interface TlsProxy extends AsyncDisposable {
  httpsPort: number;
  httpPort: number;
  /** What the proxy has printed so far. */
  printed: () => string;
}

export interface ProxyPorts {
  /** Where `127.0.0.1:8080` and `127.0.0.1:8081` of the file are in the test. */
  api: number;
  collect: number;
}

export async function startCaddy(ports: ProxyPorts): Promise<TlsProxy> {
  const folder = mkdtempSync(join(tmpdir(), "toolchain-caddy-"));
  const [httpsPort, httpPort] = [await closedPort(), await closedPort()];
  const options = ["admin off", "local_certs", "skip_install_trust", `https_port ${httpsPort}`];
  const text = `{\n${[...options, `http_port ${httpPort}`].join("\n")}\n}\n${onPorts("Caddyfile", ports)}`;
  writeFileSync(join(folder, "Caddyfile"), text);
  const child = spawn("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], {
    env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder },
  });
  return proxyOf(child, { folder, httpsPort, httpPort });
}

export async function startNginx(ports: ProxyPorts): Promise<TlsProxy> {
  const folder = mkdtempSync(join(tmpdir(), "toolchain-nginx-"));
  const [httpsPort, httpPort] = [await closedPort(), await closedPort()];
  makeCertificate(folder);
  const included = onPorts("nginx.conf", ports)
    .replaceAll("/etc/letsencrypt/live/stats.you.example", folder)
    .replaceAll("listen 443 ssl", `listen 127.0.0.1:${httpsPort} ssl`)
    .replaceAll("listen 80", `listen 127.0.0.1:${httpPort}`);
  writeFileSync(join(folder, "included.conf"), included);
  writeFileSync(join(folder, "nginx.conf"), nginxAround(folder));
  const child = spawn("nginx", ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")]);
  return proxyOf(child, { folder, httpsPort, httpPort });
}

function onPorts(name: string, { api, collect }: ProxyPorts): string {
  const text = readFileSync(`deploy/proxy/${name}`, "utf8");
  return text
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${api}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${collect}`);
}

/** The rest of a configuration, for a process of this user. */
function nginxAround(folder: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return [
    "daemon off;",
    "master_process off;",
    `pid ${folder}/pid;`,
    "events {}",
    `http { access_log off; ${temporary.join(" ")} include ${folder}/included.conf; }`,
  ].join("\n");
}

function makeCertificate(folder: string): void {
  const [key, certificate] = [join(folder, "privkey.pem"), join(folder, "fullchain.pem")];
  const subject = ["-subj", "/CN=you.example", "-days", "1", "-newkey", "rsa:2048", "-nodes"];
  spawnSync("openssl", ["req", "-x509", ...subject, "-keyout", key, "-out", certificate]);
}

function proxyOf(
  child: ChildProcess,
  { folder, ...ports }: { folder: string; httpsPort: number; httpPort: number },
): TlsProxy {
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (part: Buffer) => (printed += part.toString()));
  return {
    ...ports,
    printed: () => printed,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      if (child.exitCode === null) {
        child.kill("SIGTERM");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
