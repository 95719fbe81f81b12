/** A broker for tests, ended with them unless it was given. */
export interface TestBroker extends AsyncDisposable {
  readonly brokers: readonly string[];
}
