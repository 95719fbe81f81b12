/**
 * Whether ClickHouse says that it cannot read the bytes of a block: the same bytes are refused each time, before a row
 * of them is stored. Everything else that it says (memory, disk, too many parts, a view that fails) may pass.
 */
export function isRefusedData(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return typeof error.code === "string" && REFUSED_DATA.has(error.code);
}

/** What blocks with flipped, missing or surplus bytes led to. Source of the names: ClickHouse, ErrorCodes.cpp. */
const REFUSED_DATA: ReadonlySet<string> = new Set([
  "32", // ATTEMPT_TO_READ_AFTER_EOF
  "33", // CANNOT_READ_ALL_DATA
  "117", // INCORRECT_DATA
  "128", // TOO_LARGE_ARRAY_SIZE
  "131", // TOO_LARGE_STRING_SIZE
  "190", // SIZES_OF_ARRAYS_DONT_MATCH
]);
