/** RFC 4180 with a header and `\n` at the end of each line. */
export function csvOf(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return csvRows([columns, ...rows]);
}

export function csvRows(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
