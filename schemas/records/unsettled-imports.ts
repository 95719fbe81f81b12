/** Imports whose events may still be changed by settlement. */
export interface UnsettledImports {
  /** UUIDs of imports of which versions from `fromVersion` on may still override others. */
  imports: readonly string[];
  /** A whole number as text, because it exceeds the exact range of a double. */
  fromVersion: string;
  /** UUIDs of those among `imports` whose events must all be removed. */
  retracted: readonly string[];
  /** UUIDs of erasures whose versions of events are hidden while their rows are deleted. */
  erasures?: readonly string[];
  /** Whether any import may have been settled since retracted events were last read. */
  changed: boolean;
}
