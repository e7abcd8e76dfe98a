/** The little of splunk-logging that the tests use; it comes without types. */
declare module 'splunk-logging' {
  export class Logger {
    constructor(options: Readonly<Record<string, unknown>>);
    error: (error: unknown, context?: unknown) => void;
    send(
      context: Readonly<Record<string, unknown>>,
      done: (error: unknown, response: unknown, body: unknown) => void,
    ): void;
  }
}
