/** What a handler in TypeScript says of wrong parameters: where they stand and what would be right (DS-9, DS-10). */
import { expect, test } from 'bun:test';
import { get } from './listing.ts';
import { sharedService } from './shared-service.ts';

const HANDLER = `import { Elysia, t } from "elysia";
const query = t.Object({
  limit: t.Integer({ minimum: 1 }),
  flag: t.Optional(t.BooleanString()),
  kind: t.Optional(t.Union([t.Literal("a"), t.Literal("b")])),
  day: t.Optional(t.Date()),
  ids: t.Optional(t.Array(t.Integer())),
});
export const router = new Elysia()
  .get("/", ({ query }) => query, { query })
  .get("/n/:n", ({ params }) => params, { params: t.Object({ n: t.Integer({ maximum: 9 }) }) });
`;
const shared = sharedService({ files: { 'h.ts': HANDLER } });

test.each([
  ['?limit=x', ['query', 'limit'], 'Expected integer'],
  ['?limit=1.5', ['query', 'limit'], 'Expected integer'],
  ['?limit=0', ['query', 'limit'], 'Expected integer to be greater or equal to 1'],
  ['', ['query', 'limit'], 'Expected required property'],
  ['?limit=1&flag=2', ['query', 'flag'], 'Expected boolean'],
  ['?limit=1&kind=c', ['query', 'kind'], 'Expected "a" or "b"'],
  ['?limit=1&day=zz', ['query', 'day'], 'Expected date'],
  ['?limit=1&ids=x', ['query', 'ids', '0'], 'Expected integer'],
  ['n/x', ['path', 'n'], 'Expected integer'],
  ['n/12', ['path', 'n'], 'Expected integer to be less or equal to 9'],
])('%s', async (rest, loc, msg) => {
  const { status, detail } = await get(shared.reader, `/api/h/${rest}`);
  expect([status, detail]).toEqual([422, [{ type: 'value_error', loc, msg }]]);
});
