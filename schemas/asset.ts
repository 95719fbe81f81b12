/**
 * The address of a file that ships beside the code (SQL, Avro, CSV), by its path from the package's root. Compiled code
 * lives one folder deeper, in dist/, and reads the same files.
 */
export function assetUrl(path: string): URL {
  const root = import.meta.url.includes("/dist/schemas/") ? "../../" : "../";
  return new URL(root + path, import.meta.url);
}
