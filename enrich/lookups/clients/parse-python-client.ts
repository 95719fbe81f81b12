export interface ClientDetails {
  installer: { name: string; version?: string };
  python?: string;
  implementation?: { name: string; version: string };
  system?: { name?: string; release?: string };
  /** More fields that pip's, uv's and Hatch's JSON carries: distro, cpu, openssl_version, ci... as they were sent. */
  [field: string]: unknown;
}

export function parsePythonClient(text: string): ClientDetails | undefined {
  const product = PRODUCT.exec(text);
  if (product === null) return undefined;
  const [, name = "", version = ""] = product;
  if (SETUPTOOLS.has(name)) return parseSetuptools(text);
  const form = FORMS.get(name);
  if (form === undefined) return undefined;
  const installer = { name: form.name ?? name, version };
  if (form.keeps === "json") return readJsonDetails(text, installer) ?? readTokens(text, installer, "all");
  return readTokens(text, installer, form.keeps);
}

const SETUPTOOLS: ReadonlySet<string> = new Set(["setuptools", "distribute", "Python-urllib"]);

/** `name/version` at the start; versions are bounded, and nothing repeats within a repetition. */
const PRODUCT = /^([A-Za-z][\w.-]{0,40})\/([\w.+!~-]{1,64})(?=$|[\s;,])/;

type Keeps = "json" | "all" | "implementation" | "none";

interface Form {
  keeps: Keeps;
  /** The client's usual name, where the product is spelled otherwise. */
  name?: string;
}

const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ["pip", { keeps: "json" }],
  ["uv", { keeps: "json" }],
  ["poetry", { keeps: "implementation" }],
  ["pdm", { keeps: "implementation" }],
  ["unearth", { keeps: "implementation" }],
  ["hatch", { keeps: "json" }],
  ["Hatch", { keeps: "json", name: "hatch" }],
  ["flit", { keeps: "implementation" }],
  ["twine", { keeps: "implementation" }],
  ["conda", { keeps: "none" }],
  ["mamba", { keeps: "none" }],
  ["micromamba", { keeps: "none" }],
  ["pixi", { keeps: "none" }],
  ["rattler", { keeps: "none" }],
  ["python-requests", { keeps: "none", name: "requests" }],
  ["python-httpx", { keeps: "none", name: "httpx" }],
  ["bandersnatch", { keeps: "none" }],
  ["devpi-server", { keeps: "none", name: "devpi" }],
  ["pipenv", { keeps: "none" }],
  ["pex", { keeps: "none" }],
  ["z3c.pypimirror", { keeps: "none" }],
  ["pep381client", { keeps: "none" }],
  ["pep381client-proxy", { keeps: "none" }],
]);

type Installer = ClientDetails["installer"];

/** The object after the product, without its nulls; undefined where there is none that parses. */
function readJsonDetails(text: string, installer: Installer): ClientDetails | undefined {
  const start = text.indexOf("{");
  if (start < 0) return undefined;
  const parsed = parseJson(text.slice(start));
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
  return { ...(withoutNulls(parsed) as Record<string, unknown>), installer };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A user agent that was cut or mangled still names its product.
    return undefined;
  }
}

/** `Object.fromEntries` defines own fields, so that a key like `__proto__` stays a key. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutNulls(field)]));
}

/** `pip/1.4.1 CPython/2.7.14 Darwin/17.7.0`: implementation and system, anywhere after the product. */
function readTokens(text: string, installer: Installer, keeps: Keeps): ClientDetails {
  if (keeps === "none") return { installer };
  const implementation = readToken(text, IMPLEMENTATION);
  const system = readToken(text, SYSTEM);
  return {
    installer,
    // Only CPython's version is that of the language.
    ...(keeps === "all" && implementation?.name === "CPython" && { python: implementation.version }),
    ...(implementation && { implementation }),
    ...(system && { system: { name: system.name, release: system.version } }),
  };
}

const IMPLEMENTATION = /\s(CPython|PyPy|Jython|IronPython|GraalVM|Pyston)\/([\w.+-]{1,64})/;
const SYSTEM =
  /\s(Linux|Darwin|Windows|FreeBSD|OpenBSD|NetBSD|SunOS|AIX|CYGWIN[\w.-]{0,20}|Java)\/([\w.+~-]{1,128})/;

function readToken(text: string, pattern: RegExp): { name: string; version: string } | undefined {
  const found = pattern.exec(text);
  return found === null ? undefined : { name: found[1]!, version: found[2]! };
}

/** setuptools, or the older distribute, and Python's urllib in either order; urllib alone is some script. */
function parseSetuptools(text: string): ClientDetails {
  const [, name, version] = /(?:^|\s)(setuptools|distribute)\/([\w.+!-]{1,64})/.exec(text) ?? [];
  const python = /(?:^|\s)Python-urllib\/([\w.+-]{1,64})/.exec(text)?.[1];
  if (name === undefined || version === undefined)
    return { installer: { name: "python-urllib", version: python ?? "" } };
  return { installer: { name, version }, ...(python !== undefined && { python }) };
}
