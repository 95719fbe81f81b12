import type { ClientRequest } from "node:http";

const INTERIM_ANSWERS_MAX = 10;

/**
 * Ends the request with the error after 10 answers like 103 before the answer itself. Each takes time to parse, and a
 * hostile server may send them for ever.
 */
export function limitInterimAnswers(request: ClientRequest, errorOf: (reason: string) => Error): void {
  let interim = 0;
  request.on("information", () => {
    if (++interim > INTERIM_ANSWERS_MAX) request.destroy(errorOf("sends one interim answer after the other"));
  });
}
