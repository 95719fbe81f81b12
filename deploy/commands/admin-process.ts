/** The process that a command runs in. */
export interface AdminProcess {
  env: Record<string, string | undefined>;
  /** Takes one line of the result. */
  print: (line: string) => void;
  /** Takes one line about what goes on, beside the result. */
  note: (line: string) => void;
  /** Prints the sentence of a failure and sets the exit status to 1. */
  fail: (sentence: string) => void;
}

/** Results go to standard output, notes and failures to standard error. */
export function thisProcess(): AdminProcess {
  const note = (line: string) => void process.stderr.write(`${line}\n`);
  return {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
    note,
    fail: (sentence) => {
      note(sentence);
      process.exitCode = 1;
    },
  };
}
