import { InvalidArgumentError } from "commander";

/** Parses an option that is a whole number from 1 to 999,999,999. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("It must be a whole number greater than 0.");
  return Number(text);
}
