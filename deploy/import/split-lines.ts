import { StringDecoder } from "node:string_decoder";

/** The lines of UTF-8 text, without their ends (`\n` or `\r\n`). The rest of a line above `charactersMax` is dropped. */
export async function* splitLines(
  source: AsyncIterable<Buffer>,
  charactersMax: number,
): AsyncGenerator<string> {
  const decoder = new StringDecoder();
  let rest = "";
  for await (const part of source) {
    const lines = (rest + decoder.write(part)).split("\n");
    rest = (lines.pop() ?? "").slice(0, charactersMax);
    for (const line of lines) yield trimmed(line, charactersMax);
  }
  rest += decoder.end();
  if (rest !== "") yield trimmed(rest, charactersMax);
}

function trimmed(line: string, charactersMax: number): string {
  return (line.endsWith("\r") ? line.slice(0, -1) : line).slice(0, charactersMax);
}
