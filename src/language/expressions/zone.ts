/** One per process, because a worker runs one query at a time; queries in the server's own process are in UTC. */
import { TimeZone } from '../../base/time-zone.ts';

let current = TimeZone.UTC;

export function zone(): TimeZone {
  return current;
}

export function useZone(name: string | undefined): void {
  if (current.name !== (name ?? 'UTC')) current = TimeZone.named(name ?? 'UTC') ?? TimeZone.UTC;
}

export function inZone<Result>(name: string, work: () => Result): Result {
  const before = current.name;
  useZone(name);
  try {
    return work();
  } finally {
    useZone(before);
  }
}
