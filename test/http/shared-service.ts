/**
 * One service for all tests of a file, with the clients they ask through.
 */
import { afterAll, beforeAll, expect } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Client, Service } from '../support/service.ts';

/** The service of a test file; usable in tests and hooks, not while tests are registered. */
interface SharedService {
  readonly service: Service;
  /** Reads everything, writes nothing. */
  readonly reader: Client;
  /** Reads and writes everything. */
  readonly writer: Client;
  readonly superuser: Client;
}

/** Lines of the log about what must never happen, whatever was asked: answers of 500 and above, and errors. */
function failuresIn(log: string, expected: RegExp | null): string[] {
  const lines = log.split('\n').filter((line) => /"level":"error"|"status":5\d\d/.test(line));
  return lines.filter((line) => expected?.test(line) !== true);
}

/**
 * Starts the service before the tests of the file (or `describe`) and ends it after them. Afterwards its log must hold
 * no failures but those that match `expectedFailures`.
 */
export function sharedService(
  options: Parameters<typeof startService>[0] = {},
  expectedFailures: RegExp | null = null,
): SharedService {
  let running: SharedService | undefined;
  const started = (): SharedService => {
    if (running === undefined) throw new Error('The service starts before the first test');
    return running;
  };
  beforeAll(async () => {
    const service = await startService(options);
    const { accounts } = service;
    await accounts.user('root', { superuser: true });
    await accounts.grant('reader', '*', 'read');
    await accounts.grant('writer', '*', 'read', 'write');
    running = {
      service,
      reader: await service.as('reader'),
      writer: await service.as('writer'),
      superuser: await service.as('root'),
    };
  });
  afterAll(async () => {
    if (running === undefined) return;
    const failures = failuresIn(running.service.stderr(), expectedFailures);
    await running.service[Symbol.asyncDispose]();
    expect(failures).toEqual([]);
  });
  return {
    get service() {
      return started().service;
    },
    get reader() {
      return started().reader;
    },
    get writer() {
      return started().writer;
    },
    get superuser() {
      return started().superuser;
    },
  };
}
