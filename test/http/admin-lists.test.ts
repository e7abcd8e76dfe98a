/**
 * The lists of administration: paging, sorting and filtering are one mechanism for all of them (DS-133, B-Q).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { addMember } from '../../src/accounts/rights/groups.ts';
import { columnOf, get, walk } from './listing.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({ files: { 'a.csv': 'n\n1\n' } });

/** Every list with the members its objects have and those it is sorted by (DS-134, DS-135). */
const LISTS: Readonly<Record<string, { members: string; sortable: string }>> = {
  users: {
    members: 'id username is_active is_superuser created_at',
    sortable: 'username created_at is_active is_superuser',
  },
  groups: { members: 'id name description', sortable: 'name description' },
  permissions: {
    members: 'id resource action description',
    sortable: 'id resource action description',
  },
  locks: {
    members: 'id resource owner acquired_at expires_at reason',
    sortable: 'id resource owner acquired_at expires_at reason',
  },
  cache: { members: 'key expires_at resource user', sortable: 'key expires_at resource user' },
  'api-keys': {
    members: 'id key_hash user_id description created_at expires_at last_used_at is_active',
    sortable: 'created_at expires_at last_used_at is_active description',
  },
  sessions: {
    members: 'id user_id created_at last_active_at expires_at ip_address user_agent strength',
    sortable: 'created_at last_active_at expires_at user_id',
  },
  'audit-logs': {
    members: 'id timestamp user_id action resource details ip_address',
    sortable: 'timestamp action resource',
  },
};
const NAMES = Object.keys(LISTS);

const DESCRIPTIONS = ['b', null, 'a', '', 'B%_x', 'é', 'e', "it's", 'line\nbreak', '10', '9', 'a'];

beforeAll(async () => {
  const { accounts } = shared.service;
  for (const [at, description] of DESCRIPTIONS.entries()) {
    const sql = 'INSERT INTO groups (name, description) VALUES (?, ?)';
    await accounts.db.run(sql, [`g${String(at).padStart(2, '0')}`, description]);
  }
  for (let at = 0; at < 5; at++) {
    const { id } = await accounts.user(`user ${at}`, { superuser: at === 3 });
    await addMember(accounts.db, 1, id);
    await accounts.apiKey(`user ${at}`, at === 2 ? ['read:a'] : null);
    await accounts.session(`user ${at}`);
    await accounts.db.run(
      "INSERT INTO locks (resource, owner, acquired_at, expires_at, reason) VALUES (?, 'x', '2026-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z', NULL)",
      [`lock ${at}`],
    );
    for (let n = 0; n < 4; n++) {
      const action = n % 2 === 0 ? 'login' : 'logout';
      await accounts.db.run(
        'INSERT INTO audit (timestamp, user_id, action, resource, details, ip_address) VALUES (?, ?, ?, ?, ?, NULL)',
        [`2026-01-0${at + 1}T00:00:0${n}.500Z`, id, action, n === 0 ? null : 'auth', `entry ${n}`],
      );
    }
  }
  await (await shared.reader.fetch('/api/a/')).text();
  await (await shared.reader.fetch('/schema/a/')).text();
});

const list = (name: string, query: Record<string, string | object> = {}) => {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [
      key,
      typeof value === 'object' ? JSON.stringify(value) : value,
    ]),
  );
  return get(shared.superuser, `/admin/${name}?${parameters}`);
};
const problem = (answer: { status: number; detail: unknown }) => {
  const [issue] = answer.detail as { type: string; loc: unknown[] }[];
  return [answer.status, issue?.type, issue?.loc];
};

describe.each(NAMES)('/admin/%s', (name) => {
  const { members, sortable } = LISTS[name]!;

  test('has objects with exactly its members, and their number in X-Total-Count', async () => {
    const { status, rows, total, next } = await list(name);
    expect([status, next]).toEqual([200, null]);
    expect(rows.length).toBeGreaterThan(1);
    expect(total).toBe(rows.length);
    for (const { scopes: _scopes, ...row } of rows) {
      expect(Object.keys(row).join(' ')).toBe(members);
    }
  });

  test('pages by limit and offset, and by cursor, without a gap or a repeat', async () => {
    const all = (await list(name)).rows;
    const [first, rest] = [await list(name, { limit: '1' }), await list(name, { offset: '1' })];
    expect([...first.rows, ...rest.rows]).toEqual(all as never);
    expect(first.total).toBe(all.length);
    expect((await list(name, { offset: '9007199254740993' })).rows).toEqual([]);
    for (const sort of ['', ...sortable.split(' ')]) {
      for (const order of ['asc', 'desc']) {
        const query = `sort=${sort}&order=${order}`;
        const whole = await get(shared.superuser, `/admin/${name}?${query}`);
        const pages = await walk(shared.superuser, `/admin/${name}?limit=3&${query}`);
        expect(pages.flatMap(({ rows }) => rows)).toEqual(whole.rows as never);
        expect(whole.rows.length).toBe(all.length);
      }
    }
  });

  test('every member can be filtered on by its own value (DS-133)', async () => {
    const all = (await list(name)).rows;
    for (const member of members.split(' ')) {
      const value = all[0]![member];
      const { status, rows } = await list(name, { filter: { [member]: { $eq: value } } });
      expect({ member, status, rows }).toEqual({
        member,
        status: 200,
        rows: all.filter((row) => row[member] === value) as never,
      });
      const others = await list(name, { filter: { [member]: { $ne: value } } });
      expect(others.total).toBe(all.length - rows.length);
    }
  });

  test.each([
    [{ limit: '0' }, 'greater_than_equal', 'limit'],
    [{ limit: '-1' }, 'greater_than_equal', 'limit'],
    [{ limit: '1001' }, 'less_than_equal', 'limit'],
    [{ limit: '1e3' }, 'int_parsing', 'limit'],
    [{ limit: '1;drop' }, 'int_parsing', 'limit'],
    [{ limit: '' }, 'int_parsing', 'limit'],
    [{ offset: '-1' }, 'greater_than_equal', 'offset'],
    [{ order: 'ASC' }, 'string_pattern_mismatch', 'order'],
    [{ sort: 'nothing' }, 'string_pattern_mismatch', 'sort'],
    [{ sort: '__proto__' }, 'string_pattern_mismatch', 'sort'],
    [{ sort: 'rowid' }, 'string_pattern_mismatch', 'sort'],
    [{ sort: '_row_id' }, 'string_pattern_mismatch', 'sort'],
    [{ sort: '(select 1)' }, 'string_pattern_mismatch', 'sort'],
    [{ sort: 'password_hash' }, 'string_pattern_mismatch', 'sort'],
    [{ sort: 'token_hash' }, 'string_pattern_mismatch', 'sort'],
  ])('%j is refused: 422', async (query, type, parameter) => {
    expect(problem(await list(name, query))).toEqual([422, type, ['query', parameter]]);
  });

  test.each([
    ['{', 'Invalid filter: not valid JSON'],
    ['[]', 'Invalid filter: expected a JSON object'],
    ['{"nothing":1}', "Invalid filter: unknown column 'nothing'"],
    ['{"__proto__":1}', "Invalid filter: unknown column '__proto__'"],
    ['{"_row_id":1}', "Invalid filter: unknown column '_row_id'"],
    ['{"password_hash":{"$startswith":"$"}}', "Invalid filter: unknown column 'password_hash'"],
    ['{"token_hash":{"$null":false}}', "Invalid filter: unknown column 'token_hash'"],
    ['{"$where":"1"}', "Invalid filter: unknown operator '$where'"],
    [`${'{"$not":'.repeat(17)}{}${'}'.repeat(17)}`, 'Invalid filter: too deep (maximum 16)'],
    [JSON.stringify({ x: 'x'.repeat(65_536) }), 'Invalid filter: too large (maximum 65536 bytes)'],
  ])('the filter %p is refused: 422', async (filter, detail) => {
    const answer = await list(name, { filter });
    expect([answer.status, answer.detail]).toEqual([422, detail]);
  });

  test('a cursor that is none of its own is refused, and so is one with an offset (DS-41)', async () => {
    const own = await list(name, { limit: '1' });
    const cursor = new URLSearchParams(own.next!.split('?')[1]).get('cursor')!;
    const other = name === 'users' ? 'groups' : 'users';
    const asked = [
      await list(other, { cursor }),
      await list(name, { cursor, sort: sortable.split(' ')[0]! }),
      await list(name, { cursor, filter: '{}' }),
      await list(name, { cursor, offset: '1' }),
      await list(name, { cursor: 'WzFd' }),
      await list(name, { cursor: "' OR 1=1 --" }),
      await list(name, { cursor: '' }),
    ];
    for (const { status, detail } of asked)
      expect([status, detail]).toEqual([422, 'Invalid cursor']);
  });

  test('unknown parameters are ignored, slips refused (DS-3), of a repeated one the last counts', async () => {
    const { total } = await list(name);
    // Only the audit has an export, and so knows formats.
    const format = name === 'audit-logs' ? '' : 'format=nonsense&';
    const path = `/admin/${name}?${format}columns=x&q=zzz&where=1&limit=x&limit=1`;
    const answer = await get(shared.superuser, path);
    expect([answer.status, answer.total, answer.rows.length]).toEqual([200, total, 1]);
    const wrong = await get(shared.superuser, `/admin/${name}?limt=1`);
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("Unknown parameter 'limt'; did you mean 'limit'?");
  });
});

describe('sorting', () => {
  const names = async (query: Record<string, string>) =>
    columnOf((await list('groups', query)).rows, 'description');

  test('texts by code points, null last in both directions, ties in insertion order (DS-58)', async () => {
    const sorted = ['', '10', '9', 'B%_x', 'a', 'a', 'b', 'e', "it's", 'line\nbreak', 'é'];
    const own = (values: unknown[]) => values.filter((value) => value !== null);
    expect(own(await names({ sort: 'description' }))).toEqual(sorted);
    expect(own(await names({ sort: 'description', order: 'desc' }))).toEqual(
      sorted.toReversed() as never,
    );
    for (const order of ['asc', 'desc']) {
      expect((await names({ sort: 'description', order })).at(-1)).toBeNull();
    }
    const ties = await list('groups', {
      sort: 'description',
      order: 'desc',
      filter: { description: 'a' },
    });
    expect(columnOf(ties.rows, 'name')).toEqual(['g02', 'g11']);
  });

  test('by several members, each with its own direction', async () => {
    const { rows } = await list('users', { sort: '-is_superuser,username' });
    const pairs = rows.map(({ is_superuser, username }) => [is_superuser, username]);
    expect(pairs).toEqual(
      pairs.toSorted(
        ([a, m], [b, n]) => Number(b) - Number(a) || (String(m) < String(n) ? -1 : 1),
      ) as never,
    );
    expect(pairs[0]![0]).toBe(true);
  });

  test('the audit is newest first, and oldest first on demand', async () => {
    const ids = columnOf((await list('audit-logs')).rows, 'id') as number[];
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(columnOf((await list('audit-logs', { order: 'asc' })).rows, 'id')).toEqual(
      ids.toReversed() as never,
    );
  });
});

describe('filters', () => {
  const groups = async (filter: object) =>
    columnOf(
      (await list('groups', { filter: { name: { $regex: '^g\\d' }, ...filter } })).rows,
      'description',
    );

  test.each([
    [{ description: 'a' }, ['a', 'a']],
    [{ description: { $in: ['a', null] } }, [null, 'a', 'a']],
    [
      { description: { $nin: ['a', 'b', 'e', 'é', '9', '10', ''] } },
      [null, 'B%_x', "it's", 'line\nbreak'],
    ],
    [{ description: { $null: true } }, [null, '']],
    [{ description: null }, [null]],
    [{ description: '' }, ['']],
    [{ description: { $contains: '%' } }, ['B%_x']],
    [{ description: { $contains: '_' } }, ['B%_x']],
    [{ description: { $icontains: 'É' } }, ['é']],
    [{ description: { $startswith: 'B' } }, ['B%_x']],
    [{ description: { $endswith: 'k' } }, ['line\nbreak']],
    [{ description: { $regex: '^[0-9]+$' } }, ['10', '9']],
    [{ description: { $gt: 'e' } }, ['é', "it's", 'line\nbreak']],
    [{ description: { $gte: 'b', $lt: 'f' } }, ['b', 'e']],
    [{ description: { $not: { $regex: '.' } } }, [null, '']],
    [{ $or: [{ description: 'a' }, { id: { $lt: 0 } }] }, ['a', 'a']],
    [{ $and: [], description: 'b' }, ['b']],
    [{ $or: [] }, []],
    [{ $not: { description: { $null: false } } }, [null, '']],
    [{ description: "it's" }, ["it's"]],
  ])('%j', async (filter, expected) => {
    expect(await groups(filter)).toEqual(expected as never);
  });

  test('operands follow the type of the member (DS-53)', async () => {
    const users = async (filter: object) => (await list('users', { filter })).total;
    expect(await users({ is_superuser: true })).toBe(2);
    expect(await users({ is_superuser: 'yes' })).toBe(2);
    expect(await users({ is_superuser: { $lt: true } })).toBe(await users({ is_superuser: 0 }));
    expect(await users({ username: 7 })).toBe(0);
    const detail = async (name: string, filter: object) => (await list(name, { filter })).detail;
    expect(await detail('users', { id: 'x' })).toBe(
      "Invalid filter: column 'id': operator $eq expects a number, received string",
    );
    expect(await detail('users', { is_active: 2 })).toBe(
      "Invalid filter: column 'is_active': operator $eq expects a boolean, received integer",
    );
    expect(await detail('audit-logs', { timestamp: { $gt: 'yesterday' } })).toBe(
      "Invalid filter: column 'timestamp': operator $gt expects a date-time, received string",
    );
    expect(await detail('groups', { description: { $regex: '(' } })).toBe(
      "Invalid filter: column 'description': invalid regex '('",
    );
  });

  test('times compare as moments, in any RFC 3339 form', async () => {
    const entries = async (timestamp: unknown) =>
      columnOf(
        (await list('audit-logs', { filter: { timestamp, ip_address: null } })).rows,
        'details',
      );
    expect(await entries('2026-01-02T01:00:02.5+01:00')).toEqual(['entry 2']);
    const range = { $gte: '2026-01-02T00:00:01.500Z', $lt: '2026-01-02T00:00:03Z' };
    expect(await entries(range)).toEqual(['entry 2', 'entry 1']);
  });

  test('the exact parameters join the filter (DS-135)', async () => {
    const { rows } = await list('audit-logs', {
      user_id: '5',
      action: 'login',
      resource: 'auth',
      filter: { details: { $startswith: 'entry' } },
    });
    expect(rows.length).toBeLessThan(2);
    const users = (await list('audit-logs', { action: 'login' })).rows;
    expect(new Set(columnOf(users, 'action'))).toEqual(new Set(['login']));
    const injected = { action: "login' OR 1=1 --" };
    expect((await list('audit-logs', injected)).rows).toEqual([]);
    for (const [path, type] of [
      ['audit-logs?user_id=0', 'greater_than_equal'],
      ['audit-logs?user_id=x', 'int_parsing'],
      ['api-keys?user_id=0', 'greater_than_equal'],
      ['sessions?user_id=-5', 'greater_than_equal'],
    ]) {
      const answer = await get(shared.superuser, `/admin/${path}`);
      expect(problem(answer)).toEqual([422, type, ['query', 'user_id']]);
    }
    const answer = await list('api-keys', { is_active: 'perhaps' });
    expect(problem(answer)).toEqual([422, 'bool_parsing', ['query', 'is_active']]);
  });

  test('thousands of comparisons are planned, and none of them stops the server', async () => {
    const $or = Array.from({ length: 3_000 }, (_, at) => ({ id: at + 100_000 }));
    const { status, rows } = await list('groups', { filter: { $or } });
    expect([status, rows]).toEqual([200, []]);
    expect(
      (await list('groups', { filter: { name: { $in: Array(1_001).fill('x') } } })).status,
    ).toBe(422);
  });
});

test('a pattern over a large audit runs beside the server, which goes on answering', async () => {
  const { db } = shared.service.accounts;
  await db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
     INSERT INTO audit (timestamp, action, resource, details)
     SELECT '2026-02-01T00:00:00.000Z', 'bulk', 'x', 'entry number ' || i || ' of many' FROM n`,
  );
  const filter = { details: { $regex: '(a|e)+(n|t)*[^q]*9999 of' }, action: 'bulk' };
  const slow = list('audit-logs', { filter });
  const health = shared.service.fetch('/health').then(({ status }) => status);
  expect(await Promise.race([health, slow.then(() => 'the list came first')])).toBe(200);
  expect((await slow).total).toBe(15);
});
