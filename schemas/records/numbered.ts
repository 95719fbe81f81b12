/** `1 line`, `12,345 lines`; `many` where an s is not enough. Scripts of pages import this module: it imports nothing. */
export function numbered(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}
