import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openClients, parseClient } from "../../../../../enrich/lookups/clients/open-clients.js";
import { UNKNOWN_CLIENT } from "../../../../../schemas/records/enriched-event.js";

const MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_13_6)";
const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

/** User agent, then client, version and platform. */
const clients = [
  ["pip/1.4.1 CPython/2.7.14 Darwin/17.7.0", "pip", "1.4.1", "macOS"],
  ['uv/0.1.22 {"distro":null,"system":{"name":"Windows","release":"2022Server"}}', "uv", "0.1.22", "Windows"],
  ['pip/23 {"distro":{"name":"Ubuntu"},"system":{"name":"Linux"}}', "pip", "23", "Linux"],
  ["poetry/1.1.11 CPython/3.9.2 Linux/5.10.16.3-microsoft-standard-WSL2", "poetry", "1.1.11", "Linux"],
  ["twine/4.0.2 CPython/3.9.16", "twine", "4.0.2", ""],
  ["conda/4.12.0 requests/2.27.1 CPython/3.9.12 Linux/5.4.0 ubuntu/20.04.4", "conda", "4.12.0", "Linux"],
  ["python-requests/2.19.1", "requests", "2.19.1", ""],
  ["python-httpx/0.24.1", "httpx", "0.24.1", ""],
  ["Python-urllib/3.9", "python-urllib", "3.9", ""],
  ["Python/3.9 aiohttp/3.8.1", "aiohttp", "3.8.1", ""],
  ["npm/10.2.3 node/v20.10.0 linux x64 workspaces/false", "npm", "10.2.3", "Linux"],
  ["yarn/1.22.19 npm/? node/v16.13.0 darwin x64", "yarn", "1.22.19", "macOS"],
  ["pnpm/8.6.0 npm/? node/v18.16.0 win32 x64", "pnpm", "8.6.0", "Windows"],
  ["Bun/1.0.0", "bun", "1.0.0", ""],
  [
    "docker/24.0.5 go/go1.20.6 git-commit/a61e2b4 kernel/5.15 os/linux arch/amd64 UpstreamClient(Docker-Client/24.0.5 \\(darwin\\))",
    "docker",
    "24.0.5",
    "Linux",
  ],
  ["docker/20.10 go/go1.13 kernel/10.0 os/windows arch/amd64", "docker", "20.10", "Windows"],
  ["containerd/v1.6.6", "containerd", "1.6.6", ""],
  ["containers/5.24.1 (github.com/containers/image)", "containers", "5.24.1", ""],
  ["libpod/4.3.1", "podman", "4.3.1", ""],
  ["Buildah/1.23.1", "buildah", "1.23.1", ""],
  ["skopeo/1.9.2", "skopeo", "1.9.2", ""],
  ["cri-o/1.24.1 go/go1.18.1 os/linux arch/amd64", "cri-o", "1.24.1", "Linux"],
  ["buildkit/v0.11", "buildkit", "0.11", ""],
  ["Helm/3.12.0", "helm", "3.12.0", ""],
  ["curl/8.1.2", "curl", "8.1.2", ""],
  ["Wget/1.20.3 (linux-gnu)", "wget", "1.20.3", "Linux"],
  ["aria2/1.35.0", "aria2", "1.35.0", ""],
  ["Go-http-client/2.0", "go", "", ""],
  ["Apache-Maven/3.8.1 (Java 11.0.2; Linux 5.4.0)", "maven", "3.8.1", "Linux"],
  ["Gradle/7.4 (Mac OS X;12.1;aarch64) (Eclipse Adoptium;11.0.14;11.0.14+9)", "gradle", "7.4", "macOS"],
  ["cargo 1.52.0 (69767412a 2021-04-21)", "cargo", "1.52.0", ""],
  ["Composer/2.0.13 (FreeBSD; 13.0; PHP 8.0.3; cURL 7.68.0)", "composer", "2.0.13", "FreeBSD"],
  [
    "bundler/2.2.3 rubygems/3.2.3 ruby/2.7.2 (x86_64-pc-linux-gnu) command/install",
    "bundler",
    "2.2.3",
    "Linux",
  ],
  ["RubyGems/3.2.3 x86_64-linux Ruby/2.7.2", "rubygems", "3.2.3", "Linux"],
  ["NuGet Command Line/5.8.0 (Microsoft Windows NT 10.0.19041.0)", "nuget", "5.8.0", "Windows"],
  ["NuGet .NET Core MSBuild Task/6.0.0 (Ubuntu 20.04)", "nuget", "6.0.0", "Linux"],
  ["cabal-install/3.10.1.0 (linux; x86_64)", "cabal", "3.10.1.0", "Linux"],
  ["Debian APT-HTTP/1.3 (2.4.9)", "apt", "2.4.9", "Linux"],
  ["Homebrew/3.2.1 (Macintosh; Intel Mac OS X 11.4) curl/7.64.1", "homebrew", "3.2.1", "macOS"],
  ["git/2.39.2 (Apple Git-143)", "git", "2.39.2", "macOS"],
  ["git/2.33.0.windows.2", "git", "2.33.0.windows.2", "Windows"],
  [
    "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.17763",
    "powershell",
    "5.1.17763",
    "Windows",
  ],
  ["fetch libfetch/2.0", "libfetch", "", "FreeBSD"],
  ["maturin/0.8.0-alpha.2", "maturin", "0.8.0-alpha.2", ""],
  ["uvx/1.2.3+build.7", "uvx", "1.2.3+build.7", ""],
  [
    "aws-cli/2.18.16 md/awscrt#0.22.0 ua/2.0 os/linux#6.8.0 md/arch#x86_64 lang/python#3.12.6 cfg/retry-mode#standard md",
    "aws-cli",
    "2.18.16",
    "Linux",
  ],
  ["HashiCorp Terraform/1.9.8 (+https://www.terraform.io)", "terraform", "1.9.8", ""],
  ["APN/1.0 HashiCorp/1.0 Terraform/1.9.8 (+https://www.terraform.io)", "terraform", "1.9.8", ""],
  ["kubectl/v1.31.2 (darwin/arm64) kubernetes/5864a46", "kubectl", "1.31.2", "macOS"],
  ["R (4.4.1 x86_64-pc-linux-gnu x86_64 linux-gnu)", "R", "4.4.1", "Linux"],
  ["urlgrabber/3.10 yum/3.4.3", "yum", "3.4.3", ""],
  ["Python-urllib/3.6 distribute/0.6.21", "distribute", "0.6.21", ""],
  ["Bazel/release 1.0", "bazel", "1.0", ""],
  ["Dart pub 3.5.4", "pub", "3.5.4", ""],
  [
    "Chef Infra Client/18.5.0 (ruby-3.1.2-p20; ohai-18.1.11; x86_64-linux; +https://chef.io)",
    "chef",
    "18.5.0",
    "Linux",
  ],
  ["Ruby, RubyGems/3.5.3 x86_64-darwin Ruby/3.3.0", "rubygems", "3.5.3", "macOS"],
  ["ZYpp 17.31.0 (curl 7.66.0) openSUSE-Leap-15.4-x86_64", "zypp", "17.31.0", "Linux"],
  ["Microsoft BITS/7.8", "bits", "7.8", "Windows"],
  ["Foo/1", "foo", "1", ""],
  ["foo/1", "foo", "1", ""],
  ["npm/? node/v20.10.0 linux x64", "npm", "", "Linux"],
  ["Acme Downloader (Linux)", "acme", "", "Linux"],
  [`${MAC} ${WEBKIT} Chrome/68.0.3440.75 Safari/537.36`, "Chrome", "68.0.3440.75", "macOS"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:109.0) Gecko/20100101 Firefox/115.0",
    "Firefox",
    "115.0",
    "Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 16_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.5 Mobile/15E148 Safari/604.1",
    "Safari",
    "16.5",
    "iOS",
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; Pixel 7) ${WEBKIT} Chrome/116.0.0.0 Mobile Safari/537.36`,
    "Chrome",
    "116.0.0.0",
    "Android",
  ],
  ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", "2.1", ""],
  [
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/103.0.5060.134 Safari/537.36",
    "bingbot",
    "2.0",
    "",
  ],
  [
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "facebookexternalhit",
    "1.1",
    "",
  ],
  [
    `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/90.0.1 Safari/537.36`,
    "HeadlessChrome",
    "90.0.1",
    "Linux",
  ],
] as const;

describe("parseClient", () => {
  it.each(clients)("%s is %s %s on %s", (userAgent, client, clientVersion, platform) => {
    expect(parseClient(userAgent)).toMatchObject({ client, clientVersion, platform });
  });

  it.each(["", " ", "-", "(null)", "null", "12345", "unknown"])("does not know who %j is", (userAgent) => {
    expect(parseClient(userAgent)).toBe(UNKNOWN_CLIENT);
  });

  it("never throws, and answers with frozen text without line breaks", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" })), (userAgent) => {
        const client = parseClient(`Mozilla/5.0 (${userAgent}`);
        expect(Object.isFrozen(client)).toBe(true);
        expect(Object.values(client).join("")).not.toMatch(/[\r\n]/);
      }),
    );
  });
});

describe("openClients", () => {
  it("gives the same object again for an equal string", () => {
    const clientsOf = openClients({ cacheBytesMax: 10_000 });
    expect(clientsOf.of("curl/8.1.2")).toBe(clientsOf.of("curl/8.1.2"));
  });

  it("keeps answering right when strings no longer fit into its cache", () => {
    const few = openClients({ cacheBytesMax: 1_000 });
    const askAll = () => clients.map(([userAgent]) => few.of(userAgent).client);
    expect(askAll()).toEqual(clients.map(([, client]) => client));
    expect(askAll()).toEqual(clients.map(([, client]) => client));
  });

  it("reads a string that is too long to be kept", () => {
    const userAgent = `curl/8.1.2 ${"x".repeat(1_000_000)}`;
    expect(openClients({ cacheBytesMax: 1_000 }).of(userAgent).client).toBe("curl");
  });
});
