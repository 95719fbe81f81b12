import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { formatFull } from "../../../web/parts/format.js";
import type { Chart, Message, Tile } from "../message.js";
import { unlinked } from "./message-text.js";

/**
 * The HTML part of a mail. Mail clients know tables and styles of elements, and nothing is loaded. Those that follow the
 * scheme of the system use the classes; the others show the light colours.
 */
export function messageHtml(message: Message, unsubscribeUrl?: string): string {
  const mail = <Mail message={withoutLinks(message)} unsubscribeUrl={unsubscribeUrl} />;
  return `<!doctype html>${renderToString(mail)}`;
}

function withoutLinks({ subject, lines, charts, small, ...rest }: Message): Message {
  const rowsOf = ({ rows }: Chart) =>
    rows.map(({ label, note, ...row }) => ({
      ...row,
      label: unlinked(label),
      ...(note !== undefined && { note: unlinked(note) }),
    }));
  return {
    ...rest,
    subject: unlinked(subject),
    lines: lines.map(unlinked),
    charts: charts.map((chart) => ({ ...chart, rows: rowsOf(chart) })),
    small: small.map(unlinked),
  };
}

const FONT = "font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif;";
const TEXT = `${FONT}font-size:15px;line-height:22px;color:#1f2328;`;
const SOFT = `${FONT}font-size:13px;line-height:19px;color:#59636e;`;
const DARK = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
.num{white-space:nowrap}
@media (max-width:480px){.page{padding:0!important}.card{padding:20px 16px!important;border-radius:0!important}}
@media (prefers-color-scheme:dark){
.page{background:#0d1117!important}
.card{background:#161b22!important;border-color:#30363d!important}
.text{color:#e6edf3!important}
.soft{color:#9198a1!important}
.link{color:#6cb6ff!important}
.button{background:#316dca!important}
.bar{background:#539bf5!important}
.tile,.line{border-color:#30363d!important}
}`;

function Mail({ message, unsubscribeUrl }: { message: Message; unsubscribeUrl: string | undefined }) {
  const { subject, lines, tiles, charts, link, small } = message;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{subject}</title>
        <style>{DARK}</style>
      </head>
      <body class="page" style="margin:0;padding:0;background:#f6f8fa;">
        <Frame>
          <h1 class="text" style={`${TEXT}font-size:20px;line-height:27px;margin:0 0 12px;`}>
            {subject}
          </h1>
          {lines.map((line) => (
            <p class="text" style={`${TEXT}margin:0 0 12px;`}>
              {line}
            </p>
          ))}
          {tiles.length > 0 && <Tiles tiles={tiles} />}
          {charts.map((chart) => (
            <BarChart chart={chart} />
          ))}
          {link !== undefined && (
            <p style="margin:24px 0 4px;">
              <a
                class="button"
                href={link.url}
                style={`${FONT}font-size:15px;line-height:20px;font-weight:600;display:inline-block;padding:10px 18px;border-radius:6px;background:#0969da;color:#ffffff;text-decoration:none;`}
              >
                {link.label}
              </a>
            </p>
          )}
          <div class="line" style="border-top:1px solid #d1d9e0;margin:24px 0 12px;"></div>
          {small.map((line) => (
            <p class="soft" style={`${SOFT}margin:0 0 6px;`}>
              {line}
            </p>
          ))}
          {unsubscribeUrl !== undefined && (
            <p class="soft" style={`${SOFT}margin:0;`}>
              <a class="soft" href={unsubscribeUrl} style="color:#59636e;text-decoration:underline;">
                Unsubscribe
              </a>{" "}
              from these emails.
            </p>
          )}
        </Frame>
      </body>
    </html>
  );
}

const WIDE = { width: "100%", cellpadding: "0", cellspacing: "0" } as const;
const FULL = { ...WIDE, role: "presentation" } as const;

function Frame({ children }: { children: ComponentChildren }) {
  return (
    <table {...FULL} class="page" style="background:#f6f8fa;">
      <tr>
        <td class="page" align="center" style="padding:24px 12px;">
          <table {...FULL} style="max-width:600px;">
            <tr>
              <td
                class="card"
                style="background:#ffffff;border:1px solid #d1d9e0;border-radius:10px;padding:28px;text-align:left;"
              >
                {children}
              </td>
            </tr>
          </table>
        </td>
      </tr>
    </table>
  );
}

function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <table {...FULL} style="margin:8px 0 4px;">
      <tr>
        {tiles.map(({ label, value, change }) => (
          <td
            class="tile"
            width={`${Math.floor(100 / tiles.length)}%`}
            style="vertical-align:top;padding:2px 6px 2px 10px;border-left:3px solid #d1d9e0;"
          >
            <div class="soft" style={SOFT}>
              {label}
            </div>
            <div class="text" style={`${TEXT}font-size:18px;line-height:24px;font-weight:600;`}>
              {value}
            </div>
            <div class="soft" style={SOFT}>
              {change ?? "\u00a0"}
            </div>
          </td>
        ))}
      </tr>
    </table>
  );
}

/** A table of names and numbers, with bars that are cells. */
function BarChart({ chart: { title, rows } }: { chart: Chart }) {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <>
      <h2 class="text" style={`${TEXT}font-size:15px;font-weight:600;margin:22px 0 6px;`}>
        {title}
      </h2>
      <table {...WIDE} style="border-collapse:collapse;">
        {rows.map(({ label, value, note }) => (
          <tr>
            <th
              scope="row"
              align="left"
              style="width:46%;vertical-align:middle;padding:4px 8px 4px 0;font-weight:400;word-break:break-word;"
            >
              <span class="text" style={`${TEXT}font-size:14px;line-height:20px;`}>
                {label}
              </span>
              {note !== undefined && (
                <>
                  {" "}
                  <span class="soft" style={SOFT}>
                    {note}
                  </span>
                </>
              )}
            </th>
            <td style="vertical-align:middle;padding:4px 8px 4px 0;">
              <Bar percent={Math.round((value / most) * 100)} />
            </td>
            <td
              class="text num"
              align="right"
              width="1%"
              style={`${TEXT}vertical-align:middle;font-size:14px;line-height:20px;padding:4px 0;`}
            >
              {formatFull(value)}
            </td>
          </tr>
        ))}
      </table>
    </>
  );
}

function Bar({ percent }: { percent: number }) {
  return (
    <table {...FULL}>
      <tr>
        {percent > 0 && (
          <td
            class="bar"
            width={`${percent}%`}
            style="background:#0969da;height:10px;font-size:0;line-height:0;border-radius:2px;"
          >
            {"\u00a0"}
          </td>
        )}
        {percent < 100 && <td style="font-size:0;line-height:0;height:10px;">{"\u00a0"}</td>}
      </tr>
    </table>
  );
}
