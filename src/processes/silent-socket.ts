/**
 * Long queries, slow routes and event streams send nothing for long without being dead; the server in front enforces
 * time limits.
 *
 * Setting it per request (`server.timeout`) does not work on a unix socket: a request without a body would be cut
 * after ten seconds, and Bun's `fetch` would repeat it.
 */

/** For `Bun.serve` on a unix socket; Bun's types know the option for TCP only. */
export const MAY_BE_SILENT: object = { idleTimeout: 0 };
