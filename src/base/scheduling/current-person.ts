/** So that resources can be shared out by person without passing the name along. */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Current {
  person: string;
}

const storage = new AsyncLocalStorage<Current>();

/** `person`: `user:7`, `address:10.0.0.1`, or one of the server's own tasks. */
export function runForPerson<Result>(person: string, work: () => Result): Result {
  return storage.run({ person }, work);
}

/** For a request whose credentials were checked after work began. */
export function setCurrentPerson(person: string): void {
  const current = storage.getStore();
  if (current !== undefined) current.person = person;
}

/** Null for work nobody asked for. */
export function currentPerson(): string | null {
  return storage.getStore()?.person ?? null;
}
