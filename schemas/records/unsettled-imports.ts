/** Imports whose events may not all be live as they will be. */
export interface UnsettledImports {
  /** UUIDs of imports of which a version from `fromVersion` on may still override another one. */
  imports: readonly string[];
  /** A whole number, as text: it is larger than a double is exact. */
  fromVersion: string;
  /** UUIDs, among `imports`, of those whose events all have to go. */
  retracted: readonly string[];
  /** Some were settled, or may have been, since it was looked what is taken back. */
  changed: boolean;
}
