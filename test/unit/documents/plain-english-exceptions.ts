interface Exception {
  page: string;
  /** A part of the finding. */
  text: string;
  reason: string;
}

/** Places that stay although a rule finds them. */
export const EXCEPTIONS: readonly Exception[] = [];
