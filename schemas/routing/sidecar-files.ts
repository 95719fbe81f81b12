import { decodePercent } from "./decode-percent.js";
import type { Piece, RouteTemplate } from "./url-template.js";

/** Signatures, checksums, attestations, metadata and bills of materials. */
const ENDINGS = [
  "asc|sig|sign|signature|minisig|p7s|tsr",
  "sigstore|dsse|intoto|att|attestations?|provenance|slsa|cosign",
  "metadata|sbom|spdx|cdx|cyclonedx|zsync|blockmap",
  String.raw`(?:md5|sha[-_]?(?:1|224|256|384|512|3)|blake\d?\w?|crc32)(?:sums?)?|b2sums?|checksums?|digests?`,
].join("|");

/** They are also files of their own: only what is named after another file (`tool.tgz.pem`) is its sidecar. */
const AMBIGUOUS = "pem|crt|cer|cert|pub|gpg|bundle";

/** The formats that sidecars come in: `.sigstore.json`, `.intoto.jsonl`, `.sha256.txt`. */
const FORMATS = "json|jsonl|txt|xml|ya?ml|rdf|bundle|pem|crt|b64";

/** `SHA256SUMS`, `tool_1.4.0_checksums.txt`, `SHASUMS256.txt`. */
const LIST = String.raw`(?:check|sha\d{0,3}|md5|b2|blake\d?\w?)[-_]?sums?\d{0,3}(?:\.txt)?`;

const SIDECAR = new RegExp(
  [
    String.raw`\.(?:${ENDINGS})(?:\.(?:${FORMATS}))?$`,
    String.raw`\.\w{1,10}\.(?:${AMBIGUOUS})$`,
    String.raw`(?:^|[/._-])${LIST}$`,
  ].join("|"),
  "i",
);

/** Whether a file, by its name or path, says something about another file. Nobody uses a package by downloading it. */
export function isSidecarFile(name: string): boolean {
  return SIDECAR.test(name);
}

const NAMED_SIDECAR = new RegExp(
  String.raw`\.(?:${ENDINGS}|${AMBIGUOUS})(?:\.(?:${FORMATS}))?$|(?:^|[/._-])${LIST}$`,
  "i",
);

/** Whether a template itself ends in the name of such a file, in its path or a parameter: then its owner counts them. */
export function namesSidecar({ path, query }: RouteTemplate): boolean {
  return [path, ...query.map(({ value }) => value)].some((pieces) => NAMED_SIDECAR.test(endOf(pieces)));
}

function endOf(pieces: readonly Piece[]): string {
  const last = pieces.at(-1);
  return last !== undefined && "text" in last ? last.text.join("") : "";
}

/** Whether a request asks for such a file, by its path or by a value that its route captures from the query. */
export function asksForSidecar(target: string, captured: ReadonlyMap<string, string>): boolean {
  const end = target.search(/[?#]/);
  if (end < 0) return isSidecarFile(plain(target));
  return isSidecarFile(plain(target.slice(0, end))) || [...captured.values()].some(isSidecarFile);
}

function plain(path: string): string {
  if (!path.includes("%")) return path;
  return decodePercent(path)
    .map((character) => character.plain)
    .join("");
}

/** Whether cosign keeps a signature, an attestation or an SBOM under this tag (its "Signature Specification"). */
export function isSignatureTag(reference: string): boolean {
  return /^sha(?:256|512)-[0-9a-f]+\.(?:sig|att|sbom)$/.test(reference);
}

/**
 * The digest of the manifest whose referrers a registry without the referrers API has under this tag. OCI distribution
 * specification, "Referrers Tag Schema".
 */
export function subjectOfTag(reference: string): string | undefined {
  const [, algorithm, hex] = /^(sha(?:256|512))-([0-9a-f]+)$/.exec(reference) ?? [];
  return algorithm && `${algorithm}:${hex}`;
}

/** Whether a tag of an image holds what is said about another image. */
export function isSidecarTag(reference: string): boolean {
  return isSignatureTag(reference) || subjectOfTag(reference) !== undefined;
}
