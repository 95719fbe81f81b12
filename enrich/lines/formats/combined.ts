import { accessLog, isoOf, type LoggedRequest, orNothing, withoutBrackets } from "./access-log.js";
import type { OpenFormat } from "./line-format.js";

/**
 * `combined` and `common` of Apache and nginx, with or without a virtual host ahead and further fields
 * behind. Source: httpd.apache.org/docs/2.4/mod/mod_log_config.html,
 * nginx.org/en/docs/http/ngx_http_log_module.html
 */
export const combined: OpenFormat = ({ path }) => accessLog(readRequest, path);

function readRequest(text: string): LoggedRequest | undefined {
  const [, address = "", written = "", request = "", status, referrer, userAgent] =
    COMBINED_LINE.exec(text) ?? [];
  const time = isoOf(written);
  if (time === undefined) return undefined;
  // A client that does not speak HTTP leaves a request line of one word, or of bytes.
  const [method = "", target = ""] = unescaped(request).split(" ");
  return {
    time,
    address: withoutBrackets(address),
    method,
    target,
    status: Number(status),
    referrer: unescaped(orNothing(referrer)),
    userAgent: unescaped(orNothing(userAgent)),
  };
}

/** Text in quotes, in which a backslash escapes the next character. */
const QUOTED = String.raw`"((?:[^"\\]|\\.)*)"`;
/** A name or an address in brackets, so that the last group of an IPv6 address is no port. */
const HOST = String.raw`(?:\[[^\]\s]*\]|[^\s:[]+)`;
/** A user's name may contain spaces, so all up to the bracket belongs to it. */
const COMBINED_LINE = new RegExp(
  String.raw`^(?:${HOST}:\d+ )?(\S+) [^[]*\[([^\]]+)\] ${QUOTED} (\d{3}) \S+(?: ${QUOTED} ${QUOTED})?`,
);

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f", v: "\v" };

/** nginx writes `"` as `\x22`, Apache as `\"`. Bytes that are not ASCII are UTF-8. */
export function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/(?:\\x[0-9A-Fa-f]{2})+|\\(.)/g, (whole, character: string | undefined) =>
    character === undefined || whole.startsWith("\\x")
      ? Buffer.from(whole.replaceAll("\\x", ""), "hex").toString()
      : (ESCAPES[character] ?? character),
  );
}
