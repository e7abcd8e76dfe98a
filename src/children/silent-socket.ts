/**
 * How a child serves its socket: a long query, a slow route and an event stream are all silent without being dead, and the
 * server in front keeps the time.
 *
 * For one request alone (`server.timeout`) it does not hold on such a socket: a request without a body would be cut after ten
 * seconds, and Bun's `fetch` would make it once more.
 */

/** Options of `Bun.serve` on a Unix socket that cut no connection for its silence. The types of Bun know it for TCP only. */
export const MAY_BE_SILENT: object = { idleTimeout: 0 };
