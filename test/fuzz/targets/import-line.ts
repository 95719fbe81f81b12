import fc from "fast-check";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { damaged, hostileText } from "../hostile-text.js";
import { addressText, timeValue, userAgent } from "../values.js";

/** A line as bytes, or as a text that is sent in UTF-8; neither has a line end. */
export type ImportLine = string | Uint8Array;

const anyValue = fc.oneof(hostileText, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.constant(undefined));

/** Mostly of the kind that belongs there. */
function mostly(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: values }, { weight: 1, arbitrary: anyValue });
}

const headers = fc.array(
  fc.record({
    name: fc.oneof(fc.constantFrom("User-Agent", "referer", "x"), hostileText),
    value: hostileText,
  }),
  { maxLength: 3 },
);

const uniqueId = fc.oneof(
  fc.integer({ min: 0, max: 400 }).map((id) => `id-${id}`),
  fc.maxSafeNat(),
  hostileText,
);

const variables = fc.dictionary(hostileText, fc.oneof(hostileText, fc.jsonValue({ maxDepth: 3 })), {
  maxKeys: 4,
});
const manyVariables = fc
  .tuple(hostileText, fc.integer({ min: 60, max: 70 }))
  .map(([name, count]) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at])));

/** Lines of events of these artifacts, right and wrong in every way, and lines that are none. */
export function importLine(artifacts: readonly KnownArtifact[]): fc.Arbitrary<ImportLine> {
  const named = fc.constantFrom(...artifacts).map(({ kind, id }) => ({ [`$${kind}`]: id }));
  const fields = fc.record(
    {
      $time: mostly(timeValue),
      $unique_id: mostly(uniqueId),
      $remote_address: mostly(addressText),
      $user_agent: mostly(userAgent),
      $referrer: mostly(hostileText),
      $version: mostly(hostileText),
      $type: mostly(fc.oneof(fc.constant("file-download"), hostileText)),
      $domain: mostly(hostileText),
      $headers: mostly(headers),
    },
    { requiredKeys: ["$time"] },
  );
  const unknown = fc.dictionary(
    hostileText.map((name) => `$${name}`),
    anyValue,
    { maxKeys: 2 },
  );
  const others = fc.oneof(
    { weight: 20, arbitrary: variables },
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: manyVariables },
    { weight: 1, arbitrary: unknown },
  );
  const ids = fc.oneof({ weight: 20, arbitrary: named }, { weight: 1, arbitrary: fc.constant({}) });
  const event = fc.tuple(ids, fields, others).map((parts) => JSON.stringify(Object.assign({}, ...parts)));
  return fc
    .oneof(
      { weight: 40, arbitrary: event },
      { weight: 4, arbitrary: damaged(event) },
      { weight: 2, arbitrary: hostileText },
      { weight: 1, arbitrary: fc.json() },
      { weight: 1, arbitrary: fc.constantFrom("", " ", "\t", " \t ") },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
    )
    .map(withoutLineEnds);
}

function withoutLineEnds(line: ImportLine): ImportLine {
  return typeof line === "string"
    ? line.replaceAll("\n", " ")
    : line.map((byte) => (byte === 10 ? 32 : byte));
}
