import { readFileSync } from "node:fs";
import fc from "fast-check";
import { hasHeader, type ImportFormat } from "../../../schemas/records/import-format.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import { assertExportsAgree, attemptImport } from "../attempt-import.js";
import type { FuzzTarget } from "../fuzz-world.js";
import { addressText, asText, hostileText, sometimesDamaged, timeValue, userAgent } from "../values.js";

interface Input {
  format: ImportFormat;
  lines: string[];
}

/** Access logs and CSV: each line is taken, refused or skipped, and comes back as it was where it is refused. */
export function formattedFiles({ linesMax }: { linesMax: number }): FuzzTarget<Input> {
  return {
    name: "formatted-files",
    runs: 3,
    async open(world, owner) {
      const artifact = await makePackage(owner.api, {
        organization: owner.name,
        name: "files",
        libraryType: "other",
      });
      const path = `/v2/packages/${owner.name}/${artifact.id}/import`;
      return {
        inputs: fc.oneof(...FILES.map(([format, line, header]) => file({ format, line, header, linesMax }))),
        async attempt({ format, lines }) {
          const body = {
            lines: lines.map((line) => Buffer.from(line)),
            lineEnd: "\n",
            endsWithLineEnd: true,
            encoding: "gzip",
            parts: 1,
          } as const;
          const query = `?format=${format}`;
          await attemptImport(world, owner, { ...body, path, query, headerLines: hasHeader(format) ? 1 : 0 });
        },
        close: () => assertExportsAgree(owner, [artifact]),
      };
    },
  };
}

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/${name}.txt`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");

const real = (...names: string[]) => sometimesDamaged(fc.constantFrom(...names.flatMap(fixture)));

const combined = sometimesDamaged(
  fc
    .tuple(
      addressText,
      fc.constantFrom("GET", "HEAD", "POST", "-"),
      hostileText,
      fc.constantFrom(200, 206, 307, 404),
      userAgent,
    )
    .map(
      ([address, method, path, status, agent]) =>
        `${address} - - [10/Mar/2025:13:55:36 +0100] "${method} /${path} HTTP/1.1" ${status} 2326 "-" "${agent}"`,
    ),
);

const CSV_HEADER = "$time,$unique_id,$user_agent,channel";
const cell = fc.oneof(
  hostileText,
  timeValue.map(asText),
  hostileText.map((text) => `"${text.replaceAll('"', '""')}"`),
);
const csv = fc.oneof(
  { weight: 4, arbitrary: fc.array(cell, { minLength: 4, maxLength: 4 }).map((cells) => cells.join(",")) },
  { weight: 1, arbitrary: hostileText },
);

const FILES: readonly [ImportFormat, fc.Arbitrary<string>, string[]][] = [
  [
    "combined",
    fc.oneof(combined, real("access-logs/nginx", "access-logs/apache", "access-logs/apache-vhost")),
    [],
  ],
  ["cloudfront", real("access-logs/cloudfront"), fixture("access-logs/cloudfront").slice(0, 2)],
  ["s3", real("access-logs/s3"), []],
  ["csv", csv, [CSV_HEADER]],
  ["caddy", real("formats/caddy"), []],
  ["traefik", real("formats/traefik"), []],
  ["pypi-bigquery", real("formats/pypi-bigquery"), []],
  ["docker-dvp", real("formats/docker-dvp"), fixture("formats/docker-dvp").slice(0, 1)],
  ["scarf-csv", real("formats/scarf-csv"), fixture("formats/scarf-csv").slice(0, 1)],
];

function file({
  format,
  line,
  header,
  linesMax,
}: {
  format: ImportFormat;
  line: fc.Arbitrary<string>;
  header: string[];
  linesMax: number;
}): fc.Arbitrary<Input> {
  const oneLine = line.map((text) => text.replaceAll(/[\r\n]/g, " "));
  const lines = fc.noBias(fc.array(oneLine, { minLength: 1, maxLength: linesMax, size: "max" }));
  return lines.map((some) => ({ format, lines: [...header, ...some] }));
}
