import { DataType, load, open } from "ffi-rs";

type Argument = readonly [type: "int" | "long", value: number];

export interface LibcResult {
  value: number;
  /** The value of errno after the call; it means something only where `value` says that the call failed. */
  errno: number;
  message: string;
}

/** Calls a function of the C library, for system calls that Node does not have. The function must return an int. */
export function callLibc(name: string, ...args: readonly Argument[]): LibcResult {
  // Without a path, finds the symbols of this process, which include the C library.
  open({ library: "libc", path: "" });
  const { value, errnoCode, errnoMessage } = load<typeof DataType.I32, true>({
    library: "libc",
    funcName: name,
    retType: DataType.I32,
    paramsType: args.map(([type]) => (type === "int" ? DataType.I32 : DataType.I64)),
    paramsValue: args.map(([, value]) => value),
    errno: true,
  });
  return { value, errno: errnoCode, message: errnoMessage };
}
