import { parseProduct, type Product } from "./parse-product.js";
import type { ClientDetails } from "./parse-python-client.js";

/** Recognises package managers, container tools and download tools by how their user agents begin. */
export function parseInstaller(text: string): ClientDetails | undefined {
  const product = parseIrregular(text) ?? parseProduct(text.replace(PARTNER, ""));
  return product === undefined ? undefined : { installer: product };
}

/** Amazon's partner network, then the partner, then its product. */
const PARTNER = /^(?:APN\/1\.\d )?(?:HashiCorp\/1\.\d )/;

/** Those that are named otherwise, or whose version is not right after the name that they begin with. */
export function parseIrregular(text: string): Product | undefined {
  for (const { pattern, name } of IRREGULAR) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const version = found[1];
    return version === undefined ? { name } : { name, version };
  }
  return undefined;
}

const IRREGULAR: readonly { pattern: RegExp; name: string }[] = [
  { pattern: /^(?:Debian|Ubuntu) APT(?:-HTTP|-CURL)?\/[\d.]{1,20} \(([\w.+~-]{1,64})/i, name: "apt" },
  { pattern: /^NuGet[\w .+-]{0,60}\/(\d[\w.+-]{0,63})/i, name: "nuget" },
  { pattern: /^Chocolatey[\w .+-]{0,60}\/(\d[\w.+-]{0,63})/i, name: "chocolatey" },
  { pattern: /^Chef (?:Infra )?(?:Client|Knife|Workstation)(?:\/(\d[\w.+-]{0,63}))?/i, name: "chef" },
  { pattern: /^(?:The )?Haskell Stack(?:[/ ](\d[\w.]{0,63}))?/i, name: "stack" },
  { pattern: /^Bazel\/(?:release )?(\d[\w.+-]{0,63})/i, name: "bazel" },
  { pattern: /^pulumi-cli\/\d+ \((v?\d[\w.+-]{0,63})/i, name: "pulumi" },
  { pattern: /^Datadog Agent\/(\d[\w.+-]{0,63})/i, name: "datadog-agent" },
  { pattern: /^Blackbox Exporter\/(\d[\w.+-]{0,63})/i, name: "blackbox-exporter" },
  { pattern: /^Sogou web spider(?:\/(\d[\w.]{0,63}))?/i, name: "sogou" },
  { pattern: /^Screaming Frog SEO Spider(?:\/(\d[\w.]{0,63}))?/i, name: "screaming-frog" },
  { pattern: /^Symfony HttpClient\b/i, name: "symfony-httpclient" },
  { pattern: /^actions\/http-client\b/i, name: "actions-http-client" },
  { pattern: /^actions\/tool-cache\b/i, name: "actions-tool-cache" },
  { pattern: /^regclient\/\w{1,40}(?: \(v?(\d[\w.+-]{0,63})\))?/i, name: "regclient" },
  { pattern: /^GitHub CLI(?: v?(\d[\w.+-]{0,63}))?/i, name: "gh" },
  { pattern: /^OTel OTLP Exporter Go(?:\/(\d[\w.+-]{0,63}))?/i, name: "otel-otlp-exporter-go" },
  { pattern: /^OTel OTLP Exporter Java(?:\/(\d[\w.+-]{0,63}))?/i, name: "otel-otlp-exporter-java" },
  // A library that downloads for the program that it names after itself.
  { pattern: /^urlgrabber\/\S{1,64} yum\/(\d[\w.+-]{0,63})/i, name: "yum" },
  { pattern: /^(?:lib)?curl\/\S{1,64} (?:r-curl\/\S{1,64} )?httr\/(\d[\w.+-]{0,63})/i, name: "httr" },
  { pattern: /^curl\/\S{1,64} Nix\/(\d[\w.+-]{0,63})/i, name: "nix" },
  { pattern: /^curl\/\S{1,64} julia\/(\d[\w.+-]{0,63})/i, name: "julia" },
  { pattern: /^apitools\b.{0,80}\bgsutil\/(\d[\w.]{0,63})/i, name: "gsutil" },
  { pattern: /^Python\/[\d.]{1,20} aiohttp\/(\d[\w.]{0,63})/, name: "aiohttp" },
  { pattern: /^Mozilla\/5\.0 \([^)]{0,200}\) (?:Windows)?PowerShell\/(\d[\w.]{0,63})/, name: "powershell" },
  // The number after Go-http-client is the version of HTTP, not of Go.
  { pattern: /^Go-http-client\//, name: "go" },
  { pattern: /^Go \d\.\d package http$/, name: "go" },
];
