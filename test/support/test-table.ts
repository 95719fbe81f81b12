import { expect, test } from "vitest";

/** A test per row: `find` returns the row's second value for its first. The title may have placeholders for both. */
export function testTable<Input, Output>(
  title: string,
  find: (input: Input) => Output,
  rows: readonly (readonly [input: Input, output: NoInfer<Output>])[],
): void {
  test.each(rows)(title, (input, output) => {
    expect(find(input)).toEqual(output);
  });
}
