/** Longer names and versions are no client's: the breakdown by client stays small. */
const LENGTH_MAX = 64;

/**
 * "" for a text that is no name. Lower case unless known otherwise, so that `Foo/1` and `foo/1` are one
 * client.
 */
export function clientName(text: string): string {
  if (text.length > LENGTH_MAX || !NAME.test(text) || RANDOM_ID.test(text)) return "";
  const name = text.toLowerCase().replace(/\.exe$/, "");
  return SPELLINGS.get(name) ?? name;
}

/** A version without its leading `v`, or "" for a text that is none. */
export function clientVersion(text: string): string {
  const version = text.replace(/^v(?=\d)/i, "");
  return version.length <= LENGTH_MAX && VERSION.test(version) ? version : "";
}

const NAME = /^(?=[^A-Za-z]*[A-Za-z])[\w@][\w.@+:/-]*$/;
/** Words, as in Bazel's `development version`. */
const VERSION = /^\w[\w.+!~-]*(?: [\w.+!~-]+)*$/;

/** UUIDs and hashes: some programs call themselves by a new one each time. */
const RANDOM_ID = /^(?=.*\d)[\da-f-]{16,}$/i;

/** `sent=name`, or names with capitals. What a client sends is compared in lower case. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  [
    "docker-client=docker libpod=podman regctl=regclient harbor-registry-client=harbor",
    "apache-maven=maven composer-plugin=composer cabal-install=cabal mix=hex rebar=rebar3 apache-ivy=ivy R",
    "swiftpackagemanager=swiftpm python-requests=requests python-httpx=httpx python-urllib3=urllib3 node.js=node",
    "devpi-server=devpi",
    "apt-http=apt libdnf=dnf libdnf5=dnf dnf5=dnf zypper=zypp apk-tools=apk linuxbrew=homebrew snap=snapd",
    "chocolatey-command-line=chocolatey windowspackagemanager=winget",
    "libcurl=curl wget2=wget ansible-httpget=ansible azurecli=azure-cli renovatebot=renovate",
    "dependabot-core=dependabot",
    "libwww-perl=perl lwp=perl lwp::simple=perl guzzlehttp=guzzle rust-reqwest=reqwest go-http-client=go",
    "Chrome Firefox Safari Opera Dalvik HeadlessChrome PhantomJS Lynx Links ELinks",
    "Googlebot Googlebot-Image AdsBot-Google Google-InspectionTool GoogleOther Mediapartners-Google Applebot Amazonbot",
    "DuckDuckBot YandexBot Baiduspider SeznamBot PetalBot Bytespider AhrefsBot SemrushBot DotBot CCBot MJ12bot",
    "GPTBot ChatGPT-User OAI-SearchBot ClaudeBot Claude-User PerplexityBot Slackbot Slackbot-LinkExpanding Twitterbot",
    "LinkedInBot Discordbot TelegramBot WhatsApp Pinterestbot UptimeRobot",
  ]
    .flatMap((line) => line.split(" "))
    .map((entry): [string, string] => {
      const [sent = "", name = sent] = entry.split("=");
      return [sent.toLowerCase(), name];
    }),
);
