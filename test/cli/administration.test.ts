/**
 * `svc admin`: the same accounts as the server's, while it runs and while it does not (DS-200 to DS-202).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { admin } from '../../src/cli/commands/admin/index.ts';
import { auditAfter, lastAuditId } from '../http/changes.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { PASSWORD } from '../support/password.ts';

const FILES = {
  'a.csv': 'n\n1\n',
  'folder/b.csv': 'n\n1\n',
  'broken.csv': new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
};

let service: Service;
beforeAll(async () => {
  service = await startService({ files: FILES });
});
afterAll(() => service[Symbol.asyncDispose]());

interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `svc admin <words>` on the docroot, root and flags last. */
function run(words: readonly string[], input = ''): Promise<Finished> {
  return service.command(['admin', ...words, '--root', service.docroot], input);
}

const printed = (stdout: string): Finished => ({ exitCode: 0, stdout, stderr: '' });
const failed = (stderr: string, exitCode = 1): Finished => ({ exitCode, stdout: '', stderr });

async function json(words: readonly string[]): Promise<unknown> {
  const { exitCode, stdout } = await run([...words, '--json']);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

function createUser(name: string, ...flags: string[]): Promise<Finished> {
  return run(['create-user', '--username', name, '--password-stdin', ...flags], `${PASSWORD}\n`);
}

/** Action, details and actor of what `work` left in the audit. */
async function audited(work: () => Promise<unknown>): Promise<unknown[]> {
  const last = await lastAuditId(service);
  await work();
  return (await auditAfter(service, last)).map(({ action, details, user_id, ip_address }) => [
    action,
    details,
    user_id,
    ip_address,
  ]);
}

describe('users', () => {
  test('are made, listed, changed and deleted, with effect on the running server and entries of nobody', async () => {
    const entries = await audited(async () => {
      expect(await createUser('bea')).toEqual(printed("Created user 'bea'\n"));
      expect(await createUser('ada', '--superuser')).toEqual(printed("Created user 'ada'\n"));
      expect(await run(['list-users'])).toEqual(printed('bea (active)\nada (superuser, active)\n'));
      const login = async (password: string) => {
        const body = JSON.stringify({ username: 'bea', password });
        const response = await service.fetch('/auth/login', { method: 'POST', body });
        await response.text();
        return response.status;
      };
      expect(await login(PASSWORD)).toBe(200);
      const client = await service.as('bea');
      expect(await run(['deactivate-user', '--username', 'bea'])).toEqual(
        printed("Deactivated user 'bea' (1 session(s) revoked)\n"),
      );
      expect((await client.fetch('/auth/me')).status).toBe(401);
      expect(await run(['activate-user', '--username', 'bea'])).toEqual(
        printed("Activated user 'bea'\n"),
      );
      expect((await client.fetch('/auth/me')).status).toBe(200);
      const change = ['change-password', '--username', 'bea', '--password-stdin'];
      expect(await run(change, `${PASSWORD} 2\n`)).toEqual(printed("Changed password for 'bea'\n"));
      expect(await login(`${PASSWORD} 2`)).toBe(200);
      expect(await run(['delete-user', '--username', 'bea'])).toEqual(
        printed("Deleted user 'bea'\n"),
      );
      expect((await client.fetch('/auth/me')).status).toBe(401);
    });
    expect(entries.filter((row) => (row as string[])[0] !== 'login')).toEqual([
      ['create_user', 'Created user bea (cli)', null, null],
      ['create_user', 'Created user ada (cli)', null, null],
      ['deactivate_user', 'Deactivated user bea (cli)', null, null],
      ['activate_user', 'Activated user bea (cli)', null, null],
      ['reset_password', 'Reset password for user bea (cli)', null, null],
      ['delete_user', 'Deleted user bea (cli)', null, null],
    ]);
  });

  test('--json lists them as the server does', async () => {
    const listed = (await json(['list-users'])) as object[];
    const root = await service.as('ada');
    expect(listed).toEqual((await (await root.fetch('/admin/users')).json()) as object[]);
    expect(JSON.stringify(listed)).not.toContain('argon2');
  });

  test('refusals exit 1 and say what would be right', async () => {
    expect(await createUser('ada')).toEqual(failed("User 'ada' already exists\n"));
    expect(await run(['delete-user', '--username', 'adda'])).toEqual(
      failed("User 'adda' not found; did you mean 'ada'?\n"),
    );
    for (const command of ['delete-user', 'deactivate-user']) {
      expect(await run([command, '--username', 'ada'])).toEqual(
        failed('Cannot remove the last active superuser\n'),
      );
    }
    const weak = await run(['create-user', '--username', 'w', '--password-stdin'], 'short\n');
    expect([weak.exitCode, weak.stdout]).toEqual([1, '']);
    expect(weak.stderr).toStartWith('Password refused: ');
    const flags = ['--password-stdin', '--allow-weak-password'];
    expect(await run(['create-user', '--username', 'w', ...flags], 'short\n')).toEqual(
      printed("Created user 'w'\n"),
    );
    expect(await run(['change-password', '--username', 'w', ...flags], 'shorter\n')).toEqual(
      printed("Changed password for 'w'\n"),
    );
    await run(['delete-user', '--username', 'w']);
  });
});

describe('groups and permissions', () => {
  test('are made, granted, listed, explained and taken back', async () => {
    await createUser('cyd');
    const entries = await audited(async () => {
      expect(await run(['create-group', '--name', 'staff', '--description', 'us'])).toEqual(
        printed("Created group 'staff'\n"),
      );
      expect(await run(['create-group', '--name', 'staff'])).toEqual(
        failed("Group 'staff' already exists\n"),
      );
      const member = ['--username', 'cyd', '--group', 'staff'];
      expect(await run(['add-to-group', ...member])).toEqual(
        printed("Added 'cyd' to group 'staff'\n"),
      );
      expect(await run(['add-to-group', ...member])).toEqual(
        printed("'cyd' is already a member of group 'staff'\n"),
      );
      const right = ['--resource', 'folder/*', '--action', 'read', '--group', 'staff'];
      expect(await run(['grant', ...right])).toEqual(
        printed("Granted read on folder/* to group 'staff'\n"),
      );
      const client = await service.as('cyd');
      expect((await client.fetch('/api/folder/b')).status).toBe(200);
      expect(await run(['list-groups'])).toEqual(
        printed('staff: us\n  permissions: read on folder/*\n  members: cyd\n'),
      );
      const explain = ['explain', '--username', 'cyd', '--resource', 'folder/b', '--action'];
      expect(await run([...explain, 'read'])).toEqual(
        printed(
          [
            "cyd may read folder/b: group 'staff' holds read on folder/*",
            'Permissions can name it folder/b or folder/b.csv.',
            'group  permission',
            'staff  read on folder/*',
            '',
          ].join('\n'),
        ),
      );
      expect((await run([...explain, 'write'])).stdout).toStartWith(
        "cyd may not write folder/b: group 'staff' holds read on folder/*, which does not include write\n",
      );
      expect(await run(['list-permissions'])).toEqual(
        printed('id  action  resource  description\n1   read    folder/*\n'),
      );
      expect(await run(['revoke', ...right])).toEqual(
        printed("Revoked read on folder/* from group 'staff'\n"),
      );
      expect((await client.fetch('/api/folder/b')).status).toBe(403);
      expect(
        await run(['delete-permission', '--resource', 'folder/*', '--action', 'read']),
      ).toEqual(printed('Deleted permission read on folder/*\n'));
      expect(await run(['remove-from-group', ...member])).toEqual(
        printed("Removed 'cyd' from group 'staff'\n"),
      );
      expect(await run(['remove-from-group', ...member])).toEqual(
        printed("'cyd' is not a member of group 'staff'\n"),
      );
      expect(await run(['delete-group', '--name', 'staff'])).toEqual(
        printed("Deleted group 'staff'\n"),
      );
    });
    const details = entries.map((row) => (row as string[])[1]);
    expect(details.filter((text) => text !== 'read')).toEqual([
      'Created group staff (cli)',
      'Added user cyd to group staff (cli)',
      'Created permission read on folder/* (cli)',
      'Added permission read on folder/* to group staff (cli)',
      'Removed permission read on folder/* from group staff (cli)',
      'Deleted permission read on folder/* (cli)',
      'Removed user cyd from group staff (cli)',
      'Deleted group staff (cli)',
    ]);
  });

  test('create-permissions makes rights and groups once, whatever form a name has (DS-200, DS-201)', async () => {
    const words = ['create-permissions', service.docroot, 'a.csv', 'folder/b'];
    const first = await service.command(['admin', ...words]);
    expect(first).toEqual(
      printed(
        [
          "Created group 'all_resources_a_folder/b'",
          "Created group 'read_resources_a_folder/b'",
          'Created permission read on a',
          'Created permission write on a',
          "Created group 'a_readonly'",
          "Created group 'a_readwrite'",
          "Assigned read on a to group 'all_resources_a_folder/b'",
          "Assigned read on a to group 'read_resources_a_folder/b'",
          "Assigned read on a to group 'a_readonly'",
          "Assigned read on a to group 'a_readwrite'",
          "Assigned write on a to group 'all_resources_a_folder/b'",
          "Assigned write on a to group 'a_readwrite'",
          'Created permission read on folder/b',
          'Created permission write on folder/b',
          "Created group 'folder/b_readonly'",
          "Created group 'folder/b_readwrite'",
          "Assigned read on folder/b to group 'all_resources_a_folder/b'",
          "Assigned read on folder/b to group 'read_resources_a_folder/b'",
          "Assigned read on folder/b to group 'folder/b_readonly'",
          "Assigned read on folder/b to group 'folder/b_readwrite'",
          "Assigned write on folder/b to group 'all_resources_a_folder/b'",
          "Assigned write on folder/b to group 'folder/b_readwrite'",
          '',
        ].join('\n'),
      ),
    );
    const again = await service.command(['admin', ...words]);
    expect(again.stdout.split('\n').length).toBe(first.stdout.split('\n').length);
    expect(again.stdout).not.toMatch(/Created|Assigned/);
    const named = await run([
      'create-permissions',
      'a',
      '--all-group',
      'full',
      '--read-group',
      'look',
    ]);
    expect(named.stdout).toContain("Created group 'full_a'\nCreated group 'look_a'\n");
    expect((await run(['create-permissions', '__all__'])).stdout).toContain(
      "'all_resources_a_broken_folder/b'",
    );
    expect(await run(['create-permissions', 'a', 'foldr/b'])).toEqual(
      failed("Resource 'foldr/b' not found; did you mean 'folder/b'?\n"),
    );
    expect((await run(['create-permissions'])).exitCode).toBe(2);
  });
});

describe('API keys', () => {
  test('are made for a user, used, listed and revoked', async () => {
    await createUser('dan');
    const made = await run([
      'create-api-key',
      '--username',
      'dan',
      '--description',
      'job',
      '--scope',
      'read',
    ]);
    expect(made.exitCode).toBe(0);
    expect(made.stdout).toMatch(/^ak_[\w-]{43}\n$/);
    const client = service.withHeaders({ 'X-API-Key': made.stdout.trim() });
    expect((await client.fetch('/auth/me')).status).toBe(200);
    const [key] = (await json(['list-api-keys', '--username', 'dan'])) as { id: number }[];
    expect(key).toMatchObject({ description: 'job', scopes: ['read'], is_active: true });
    const table = (await run(['list-api-keys', '--username', 'dan'])).stdout;
    expect(table).toMatch(
      /^id +user +status +expires +last used +scopes +description\n\d+ +dan +active +never /,
    );
    expect(table).not.toContain(made.stdout.trim());
    expect(await run(['revoke-api-key', '--id', String(key!.id)])).toEqual(
      printed(`Revoked API key ${key!.id}\n`),
    );
    expect((await client.fetch('/auth/me')).status).toBe(401);
    expect(await run(['revoke-api-key', '--id', '99999'])).toEqual(failed('API Key not found\n'));
    expect(
      (await run(['create-api-key', '--username', 'dan', '--expires-in-days', '400'])).stderr,
    ).toBe('Expiration cannot exceed 1 year (365 days)\n');
  });
});

describe('list-resources', () => {
  test('prints the names permissions use, with the problems in JSON', async () => {
    expect(await run(['list-resources'])).toEqual(
      printed('Discovered resources:\n  a\n  broken\n  folder/b\n'),
    );
    expect(await json(['list-resources'])).toEqual([
      { resource: 'a', type: 'csv', path: 'a.csv', problem: null },
      {
        resource: 'broken',
        type: 'csv',
        path: 'broken.csv',
        problem: expect.stringContaining('UTF-8'),
      },
      { resource: 'folder/b', type: 'csv', path: 'folder/b.csv', problem: null },
    ]);
  });
});

describe('wrong usage exits 2', () => {
  test.each([
    [['list-user'], "list-user: no command of svc admin; did you mean 'list-users'?\n"],
    [['delete-user'], '--username: is required\n'],
    [['list-users', '--jsn'], "--jsn: unknown flag; did you mean '--json'?\n"],
    [
      ['grant', '--resource', 'a', '--action', 'see', '--group', 'g'],
      /^(?:Group 'g' not found|--action: is read or write)/,
    ],
    [
      ['explain', '--username', 'ada', '--resource', 'a', '--action', 'see'],
      "--action: is read or write, not 'see'\n",
    ],
    [
      ['explain', '--username', 'ada', '--resource', 'a', '--action', 'read', '--key-id', 'x'],
      "--key-id: is a number as lists show it, not 'x'\n",
    ],
    [['create-group', '--name', ' '], /^--name: /],
    [['create-user', '--username', 'x'.repeat(151), '--password-stdin'], /^--username: /],
    [
      ['create-api-key', '--username', 'ada', '--expires-in-days', 'x'],
      "--expires-in-days: is a number of days, not 'x'\n",
    ],
    [['revoke-api-key', '--id', 'x'], "--id: is a number as lists show it, not 'x'\n"],
  ])('svc admin %j', async (words, message) => {
    const { exitCode, stdout, stderr } = await run(words, `${PASSWORD}\n`);
    expect(stdout).toBe('');
    if (typeof message === 'string') expect([exitCode, stderr]).toEqual([2, message]);
    else expect(stderr).toMatch(message);
    if (typeof message === 'string') expect(exitCode).toBe(2);
  });

  test('without a command the help is shown, and with two roots neither is taken', async () => {
    const bare = await service.command(['admin']);
    expect([bare.exitCode, bare.stdout]).toEqual([2, '']);
    expect(bare.stderr).toContain('list-users');
    expect(bare.stderr).toEndWith('svc admin: a command is missing; see the help above\n');
    const twice = await service.command(['admin', 'list-users', '.', '--root', service.docroot]);
    expect(twice).toEqual(failed('--root: the root is given twice, and differently\n', 2));
  });

  test('every command shows its flags, in lines of at most 100 characters', async () => {
    const all = admin.commands!.flatMap(({ name, commands = [] }) =>
      commands.length === 0 ? [[name]] : commands.map((below) => [name, below.name]),
    );
    for (const words of all) {
      const { exitCode, stdout } = await service.command(['admin', ...words, '--help']);
      expect(exitCode).toBe(0);
      expect(stdout).toStartWith(`Usage: svc admin ${words.join(' ')}`);
      expect(stdout).toContain('--root <path>');
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    }
  });
});

test('all of it works while no server runs, too', async () => {
  await service.kill();
  expect(await createUser('eve', '--superuser')).toEqual(printed("Created user 'eve'\n"));
  expect((await run(['list-users'])).stdout).toContain('eve (superuser, active)\n');
  expect(
    (await run(['explain', '--username', 'eve', '--resource', 'x', '--action', 'write'])).stdout,
  ).toBe(
    'eve may write x: superusers may do everything\nNothing is published under that name now.\n',
  );
  await service.start();
  expect((await (await service.as('eve')).fetch('/admin/users')).status).toBe(200);
});
