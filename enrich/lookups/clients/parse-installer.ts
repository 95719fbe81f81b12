import type { ClientDetails } from "./parse-python-client.js";

/** Recognises package managers, container tools and download tools by how their user agents begin. */
export function parseInstaller(text: string): ClientDetails | undefined {
  for (const { pattern, name } of IRREGULAR) {
    const found = pattern.exec(text);
    if (found !== null) return describe(name, found[1]);
  }
  const product = PRODUCT.exec(text);
  if (product === null) return undefined;
  const name = CLIENT_BY_PRODUCT.get(product[1]!.toLowerCase());
  return name === undefined ? undefined : describe(name, product[2]);
}

/** `name/version`, `name/vversion` or, of old cargo, `name version`. */
const PRODUCT = /^([A-Za-z][\w.-]{0,40})(?:[/ ]v?(\d[\w.+~-]{0,63}))?(?=$|[\s;,(])/;

function describe(name: string, version: string | undefined): ClientDetails {
  return { installer: version === undefined ? { name } : { name, version } };
}

/** Those whose version is not right after their name. */
const IRREGULAR: readonly { pattern: RegExp; name: string }[] = [
  { pattern: /^Debian APT(?:-HTTP|-CURL)?\/[\d.]{1,20} \(([\w.+~-]{1,64})/i, name: "apt" },
  { pattern: /^NuGet[\w .+-]{0,60}\/(\d[\w.+-]{0,63})/i, name: "nuget" },
  { pattern: /^(?:The )?Haskell Stack(?:[/ ](\d[\w.]{0,63}))?/i, name: "stack" },
  { pattern: /^Python\/[\d.]{1,20} aiohttp\/(\d[\w.]{0,63})/, name: "aiohttp" },
  { pattern: /^Mozilla\/5\.0 \([^)]{0,200}\) (?:Windows)?PowerShell\/(\d[\w.]{0,63})/, name: "powershell" },
  // The number after Go-http-client is the version of HTTP, not of Go.
  { pattern: /^Go-http-client\//, name: "go" },
  { pattern: /^Go \d\.\d package http$/, name: "go" },
];

const CLIENT_BY_PRODUCT: ReadonlyMap<string, string> = new Map(
  [
    // Node
    "npm yarn pnpm bun deno cnpm lerna node-fetch undici axios got",
    // Containers
    "docker containerd podman libpod=podman buildah skopeo cri-o kubelet nerdctl buildkit kaniko helm crane oras",
    "docker-client=docker containers go-containerregistry regclient regctl=regclient harbor-registry-client=harbor",
    "singularity apptainer watchtower trivy argocd flux ko dive spegel",
    // Languages
    "go maven apache-maven=maven gradle cargo composer composer-plugin=composer bundler rubygems nuget paket",
    "cabal cabal-install=cabal stack hackage-security=cabal hex mix=hex rebar3 dart pub cocoapods carthage",
    "swiftpackagemanager=swiftpm ivy apache-ivy=ivy sbt coursier leiningen conan vcpkg luarocks cpan opam julia renv",
    // Systems
    "apt apt-http=apt dnf libdnf=dnf yum urlgrabber=yum zypp zypper=zypp pacman apk-tools=apk apk homebrew linuxbrew=homebrew",
    "nix snapd snap flatpak guix portage winget chocolatey chocolatey-command-line=chocolatey scoop",
    // Tools
    "git git-lfs curl libcurl=curl wget wget2=wget aria2 httpie lftp axel ansible-httpget=ansible terraform",
    "packer vagrant chef puppet",
    // Libraries that programs download with
    "java okhttp apache-httpclient aiohttp libwww-perl=perl lwp=perl guzzlehttp=guzzle ruby reqwest hyper ureq",
    "rust-reqwest=reqwest jersey",
    // Mirrors, proxies and robots of package users
    "artifactory nexus proget verdaccio sonatype cloudsmith pulp renovate dependabot snyk",
  ]
    .flatMap((line) => line.split(" "))
    .map((entry) => entry.split("=") as [string, string?])
    .map(([product, client = product]) => [product, client]),
);
