import { LINE_BYTES_MAX, lineLength } from "../../schemas/records/import-limits.js";
import { error, type LineFault } from "./line-fault.js";
import { fieldsOf, type LineFields } from "./line-fields.js";
import { isObject } from "../../schemas/is-object.js";
import type { LineObject } from "./line-object.js";
import type { NumberedLine } from "./split-lines.js";
import { targetOf, type ImportPath, type Target } from "./target-of.js";

/** A line whose JSON is an object, and the artifact that it names; or the fault that refuses it. */
export type DecodedLine = { fields: LineFields; target: Target } | { fault: LineFault };

const NOT_AN_OBJECT = { fault: error("failed-to-decode", "Not a valid JSON object") };
const TOO_LONG = {
  fault: error(
    "line-too-long",
    `Refused: longer than ${LINE_BYTES_MAX} bytes. The log has only its beginning`,
  ),
};

/** Never throws. The artifact is not looked up yet: it may not exist, or be another owner's. */
export function decodeLine({ bytes, line }: NumberedLine, path: ImportPath): DecodedLine {
  if (lineLength(bytes) > LINE_BYTES_MAX) return TOO_LONG;
  const object = line === 1 ? decodeObject(bytes) : parseObject(bytes);
  if (object === undefined) return NOT_AN_OBJECT;
  const fields = fieldsOf(object);
  const target = targetOf(fields, path);
  return "class" in target ? { fault: target } : { fields, target };
}

/** The object of a line that may begin its file; undefined for any other text. */
export function decodeObject(bytes: Buffer): LineObject | undefined {
  return parseObject(withoutByteOrderMark(bytes));
}

function parseObject(bytes: Buffer): LineObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Some systems begin every UTF-8 file with one. */
function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
}
