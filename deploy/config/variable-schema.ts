/** One environment variable: the rule that its value is checked against, and its documentation. */
export interface VariableSchema {
  type: "string";
  format?: string;
  enum?: readonly string[];
  /** Finishes the sentence "<VARIABLE> must be ...". */
  mustBe: string;
  /** The value that counts when the variable is not set. */
  default?: string;
  /** The effect of not setting it, where there is no default value. */
  unset?: string;
  /** Sentences for the reader of the configuration page and of `start --help`. */
  meaning: string;
}

export const SWITCH = {
  type: "string",
  enum: ["true", "false"],
  mustBe: "true or false",
  default: "false",
} as const;
