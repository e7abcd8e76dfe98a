/**
 * Whether the state database can be read and written, found out at most once a second, however many ask (DS-187).
 */
import type { ServerServices } from './dependencies.ts';

/** How long the state counts as sound after it was found so. */
const CHECK_INTERVAL_MS = 1000;
/** A state that does not answer in this time is not usable. */
const CHECK_LIMIT_MS = 2000;

interface StateCheck {
  checkedAt: number;
  isSound: boolean;
  running: Promise<boolean> | null;
}

const checks = new WeakMap<ServerServices, StateCheck>();

/** What the last check found if it is young enough, else the result of a new one, shared by all who wait for it. */
export function isStateSound(services: ServerServices): boolean | Promise<boolean> {
  let check = checks.get(services);
  if (check === undefined) {
    check = { checkedAt: Number.NEGATIVE_INFINITY, isSound: false, running: null };
    checks.set(services, check);
  }
  const age = services.clock.monotonic() - check.checkedAt;
  if (check.isSound && age < CHECK_INTERVAL_MS) return true;
  return (check.running ??= runCheck(services, check));
}

async function runCheck(services: ServerServices, check: StateCheck): Promise<boolean> {
  try {
    await withLimit(services.checkState());
    check.isSound = true;
  } catch (error) {
    services.log.warning('state database not usable', { error });
    check.isSound = false;
  }
  check.checkedAt = services.clock.monotonic();
  check.running = null;
  return check.isSound;
}

function withLimit(work: Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const refuse = (): void => reject(new Error(`no answer within ${CHECK_LIMIT_MS} ms`));
  const timer = setTimeout(refuse, CHECK_LIMIT_MS);
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
