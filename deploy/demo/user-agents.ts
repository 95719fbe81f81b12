import type { Random } from "./random.js";

export type Audience = "docker" | "npm" | "hackage" | "pypi" | "other" | "pixel";

/** A realistic user agent of this audience; common ones are more likely. */
export function pickUserAgent(audience: Audience, random: Random): string {
  return random.pickSkewed(WRITERS[audience])(random);
}

type Write = (random: Random) => string;

const LINUX = [
  { name: "Ubuntu", version: "24.04", id: "noble", libc: "2.39", release: "6.8.0-1021-aws" },
  { name: "Debian GNU/Linux", version: "12", id: "bookworm", libc: "2.36", release: "6.1.0-28-cloud-amd64" },
  { name: "Ubuntu", version: "22.04", id: "jammy", libc: "2.35", release: "5.15.0-1075-azure" },
  { name: "Amazon Linux", version: "2023", id: null, libc: "2.34", release: "6.1.119-129.201.amzn2023" },
  { name: "Fedora Linux", version: "41", id: null, libc: "2.40", release: "6.12.7-200.fc41.x86_64" },
];
const PYTHONS = ["3.12.8", "3.11.11", "3.13.1", "3.10.16", "3.9.21"];
const CPUS = ["x86_64", "x86_64", "aarch64"];

const pip: Write = (random) => {
  const installer = random.pickSkewed(["24.3.1", "24.0", "23.3.2", "25.0.1", "22.3.1"]);
  const python = random.pickSkewed(PYTHONS);
  const { name, version, id, libc, release } = random.pickSkewed(LINUX);
  return `pip/${installer} ${JSON.stringify({
    ci: random.chance(0.4) ? true : null,
    cpu: random.pick(CPUS),
    distro: { id, libc: { lib: "glibc", version: libc }, name, version },
    implementation: { name: "CPython", version: python },
    installer: { name: "pip", version: installer },
    openssl_version: "OpenSSL 3.0.15 3 Sep 2024",
    python,
    system: { name: "Linux", release },
  })}`;
};

const uv: Write = (random) => {
  const installer = random.pickSkewed(["0.5.11", "0.5.7", "0.4.30", "0.6.2"]);
  const python = random.pickSkewed(PYTHONS);
  const mac = { name: "macOS", version: "15.2", id: null, libc: null };
  const onMac = random.chance(0.3);
  const { name, version, id, libc, release } = random.pickSkewed(LINUX);
  return `uv/${installer} ${JSON.stringify({
    installer: { name: "uv", version: installer },
    python,
    implementation: { name: "CPython", version: python },
    distro: onMac ? mac : { name, version, id, libc: { lib: "glibc", version: libc } },
    system: onMac ? { name: "Darwin", release: "24.2.0" } : { name: "Linux", release },
    cpu: onMac ? "arm64" : random.pick(CPUS),
    openssl_version: null,
    setuptools_version: null,
    rustc_version: null,
    ci: random.chance(0.4) ? true : null,
  })}`;
};

const poetry: Write = (random) =>
  `poetry/${random.pick(["1.8.5", "1.8.3", "2.0.1"])} CPython/${random.pickSkewed(PYTHONS)} Linux/${random.pick(LINUX).release}`;

const docker: Write = (random) => {
  const version = random.pickSkewed(["27.4.1", "27.3.1", "26.1.4", "24.0.7", "20.10.24"]);
  const { release } = random.pickSkewed(LINUX);
  const cpu = random.chance(0.8) ? "amd64" : "arm64";
  return (
    `docker/${version} go/go1.22.10 git-commit/${random.hex(7)} kernel/${release} os/linux arch/${cpu} ` +
    `UpstreamClient(Docker-Client/${version} \\(linux\\))`
  );
};

const containerd: Write = (random) =>
  `containerd/${random.pickSkewed(["v1.7.24", "v1.7.13", "v2.0.1", "1.6.36"])}`;
const podman: Write = (random) =>
  `containers/${random.pick(["5.33.0", "5.30.2", "5.29.4"])} (github.com/containers/image)`;
const npm: Write = (random) => {
  const version = random.pickSkewed(["10.9.2", "10.8.2", "9.6.7", "11.0.0"]);
  const os = random.pickSkewed(["linux x64", "darwin arm64", "win32 x64", "linux arm64"]);
  return `npm/${version} node/${random.pick(["v20.18.1", "v22.12.0", "v18.20.5"])} ${os} workspaces/false`;
};
const yarn: Write = (random) =>
  `yarn/${random.pick(["1.22.22", "4.5.3"])} npm/? node/v20.18.1 ${random.pick(["linux x64", "darwin arm64"])}`;
const pnpm: Write = (random) => `pnpm/${random.pick(["9.15.1", "8.15.9"])} npm/? node/v22.12.0 linux x64`;
const curl: Write = (random) => `curl/${random.pickSkewed(["8.5.0", "7.88.1", "7.81.0", "8.11.1"])}`;
const wget: Write = (random) => `Wget/${random.pick(["1.21.4", "1.21.3", "1.24.5"])}`;
const go: Write = (random) => `Go-http-client/${random.pick(["1.1", "2.0"])}`;
const maven: Write = (random) =>
  `Apache-Maven/3.9.${random.pick([6, 9])} (Java 17.0.13; Linux ${random.pick(LINUX).release})`;
const cabal: Write = (random) => `cabal-install/3.12.${random.below(2)}.0 (linux; x86_64)`;
const stack: Write = () => "Haskell stack package manager";
const bot: Write = () => "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

const SYSTEMS = ["Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64"];
const chrome: Write = (random) =>
  `Mozilla/5.0 (${random.pickSkewed(SYSTEMS)}) AppleWebKit/537.36 (KHTML, like Gecko) ` +
  `Chrome/${random.pick([129, 130, 131])}.0.0.0 Safari/537.36`;
const firefox: Write = (random) => {
  const version = `${random.pick([128, 132, 133])}.0`;
  return `Mozilla/5.0 (${random.pickSkewed(SYSTEMS)}; rv:${version}) Gecko/20100101 Firefox/${version}`;
};
const safari: Write = (random) =>
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
  `Version/${random.pick(["17.6", "18.1", "18.2"])} Safari/605.1.15`;

const BROWSERS = [chrome, firefox, safari];

const WRITERS: Record<Audience, readonly Write[]> = {
  docker: [docker, containerd, podman, go, curl],
  npm: [npm, yarn, pnpm, ...BROWSERS, bot],
  hackage: [cabal, stack, curl, chrome],
  pypi: [pip, uv, poetry, curl, chrome, bot],
  other: [curl, wget, chrome, go, firefox, safari, maven, bot],
  pixel: [...BROWSERS, bot],
};
