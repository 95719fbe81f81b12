// Scripts of pages import this module: it imports nothing.

/** `1 line`, `12,345 lines`; `many` where an s is not enough. */
export function numbered(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `1,234,567`. */
export function count(number: number): string {
  return number.toLocaleString("en-US");
}
