import { runCommand } from "../program/run-command.js";
import { startProxy } from "./start-proxy.js";

interface Installation {
  /** Whose index is asked. */
  domain: string;
  /** The folder that gets the files. */
  to: string;
  requirement: string;
  /** The collector's. */
  port: () => string;
}

/** Downloads a requirement and all that it requires. */
export async function downloadWithPip({ domain, to, requirement, port }: Installation): Promise<void> {
  await using proxy = await startProxy(port);
  const from = ["--index-url", `http://${domain}/simple/`, "--trusted-host", domain, "--proxy", proxy.url];
  const quiet = ["--isolated", "--no-cache-dir", "--disable-pip-version-check", "--retries", "0"];
  const args = ["-m", "pip", "download", ...quiet, ...from, "--dest", to, requirement];
  await runCommand("python3", args, { env: throughProxy(proxy.url) });
}

/** Installs a requirement and all that it requires. */
export async function installWithUv({ domain, to, requirement, port }: Installation): Promise<void> {
  await using proxy = await startProxy(port);
  const from = ["--default-index", `http://${domain}/simple/`, "--allow-insecure-host", domain];
  const args = ["pip", "install", "--no-config", "--no-cache", ...from, "--target", to, requirement];
  await runCommand("uv", args, { env: throughProxy(proxy.url) });
}

/** Installers take the machine's variables first. */
function throughProxy(url: string): Record<string, string> {
  return { http_proxy: url, HTTP_PROXY: url, no_proxy: "", NO_PROXY: "" };
}
