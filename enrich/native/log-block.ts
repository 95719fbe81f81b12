import type { LineFault } from "../lines/line-fault.js";
import { encodeBlock, FixedColumn, LowCardinalityColumn, TextColumn } from "./columns.js";
import { uuidBytes } from "./byte-sink.js";

const CLASS_CODES = { error: 1, warning: 2, info: 3 } as const;

export interface LoggedLine {
  importId: string;
  line: number;
  fault: LineFault;
  /** The line as it was sent, when it was refused; empty otherwise. */
  bytes: Uint8Array;
  loggedAt: number;
}

export class LogBlock {
  readonly table = "import_log";
  rows = 0;
  private readonly columns = {
    import_id: new FixedColumn("UUID"),
    line: new FixedColumn("UInt64"),
    class: new FixedColumn("Enum8('error' = 1, 'warning' = 2, 'info' = 3)"),
    type: new LowCardinalityColumn(),
    message: new TextColumn(),
    package_id: new TextColumn(),
    pixel_id: new TextColumn(),
    line_bytes: new TextColumn(),
    logged: new FixedColumn("DateTime64(3, 'UTC')"),
  };

  get insertQuery(): string {
    return `INSERT INTO import_log (${Object.keys(this.columns).join(", ")}) FORMAT Native`;
  }

  add({ importId, line, fault, bytes, loggedAt }: LoggedLine): void {
    const { columns } = this;
    columns.import_id.sink.writeBytes(uuidBytes(importId));
    columns.line.sink.writeUint64(line);
    columns.class.sink.writeByte(CLASS_CODES[fault.class]);
    columns.type.add(fault.type);
    columns.message.add(fault.message);
    columns.package_id.add(fault.packageId ?? "");
    columns.pixel_id.add(fault.pixelId ?? "");
    columns.line_bytes.addBytes(bytes);
    columns.logged.sink.writeUint64(loggedAt);
    this.rows++;
  }

  encode(): Buffer[] {
    return encodeBlock(this.columns, this.rows);
  }

  /** The same entries, each without the line as it was sent. */
  withoutLines(): Pick<LogBlock, "table" | "rows" | "insertQuery" | "encode"> {
    const { table, rows, insertQuery, columns } = this;
    const encode = () => {
      const empty = new TextColumn();
      for (let row = 0; row < rows; row++) empty.add("");
      return encodeBlock({ ...columns, line_bytes: empty }, rows);
    };
    return { table, rows, insertQuery, encode };
  }

  clear(): void {
    this.rows = 0;
    for (const column of Object.values(this.columns)) column.clear();
  }
}
