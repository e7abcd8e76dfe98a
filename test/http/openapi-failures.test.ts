/**
 * What the OpenAPI document says of failures is what they are: with a listed status, in a listed form (DS-9, DS-191,
 * EV-3, EV-4, EV-65).
 */
import { expect, test } from 'bun:test';
import Ajv from 'ajv/dist/2020.js';
import { startService } from '../support/service.ts';

interface Operation {
  readonly responses: Record<string, { $ref?: string; content?: Record<string, object> }>;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly responses: Record<string, Operation['responses'][string]> };
}

/** Method, path as the document has it, and what is sent to it by somebody without any right. */
const REQUESTS: readonly (readonly [string, string, string?])[] = [
  ['GET', '/api/events/'],
  ['GET', '/api/events/{id}/'],
  ['GET', '/api/events/tail'],
  ['GET', '/api/events/histogram'],
  ['GET', '/api/events/fields'],
  ['POST', '/api/events/', '{}'],
  ['POST', '/api/savedsearches/', '{}'],
  ['POST', '/api/savedsearches/', 'no JSON'],
  ['POST', '/api-token-auth/', '{}'],
  ['POST', '/api-token-auth/', '{"username":"nobody","password":"nothing"}'],
  ['DELETE', '/api-token-auth/'],
  ['POST', '/search2/api/run/', '{}'],
  ['POST', '/search2/api/run/', 'no JSON'],
  ['POST', '/search2/api/run/', '{"query":"| nonsense"}'],
  ['POST', '/search2/api/validate/', '{}'],
  ['POST', '/_bulk', '{}'],
  ['PUT', '/elastic/{index}/_bulk', '{}'],
  ['GET', '/elastic/_license'],
  ['PUT', '/elastic/_template/{path}', '{}'],
  ['POST', '/services/collector/event', '{}'],
  ['POST', '/services/collector/ack', '{}'],
  ['POST', '/v1/logs', '{}'],
  ['POST', '/loki/api/v1/push', '{}'],
  ['GET', '/ui/media'],
  ['GET', '/auth/me'],
  ['PUT', '/auth/password', '{}'],
  ['DELETE', '/api/apikeys/{key_id}'],
  ['GET', '/metrics'],
  ['POST', '/api/uploads'],
  ['GET', '/admin/users'],
  ['POST', '/admin/users', '{}'],
  ['POST', '/admin/permissions', '{"resource":"a","action":"own"}'],
  ['PATCH', '/api/sales/', '{"action":"update","data":{"_row_id":1,"total":"x"}}'],
  ['PATCH', '/api/sales/', '{"action":"update","data":{"_row_id":9}}'],
];

test('failures have the statuses and the forms the document lists', async () => {
  await using svc = await startService({
    files: { 'sales.csv': 'total\n1\n', 'hum.mp3': new Uint8Array(100) },
    config: { upload: { enabled: true } },
  });
  await svc.createSuperuser('root');
  const root = await svc.as('root');
  const document = (await (await root.fetch('/openapi.json')).json()) as Document;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');

  const faults: unknown[] = [];
  let failures = 0;
  for (const client of [root, await svc.as('nobody'), svc]) {
    for (const [method, path, body] of REQUESTS) {
      const target = path.replace(/\{\w+\}/g, '99');
      const answer = await client.fetch(target, {
        method,
        ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
      });
      if (answer.ok) {
        // Some go on until the reader leaves.
        await answer.body?.cancel();
        continue;
      }
      failures++;
      const text = await answer.text();
      const said = `${method} ${path} ${answer.status} ${text}`;
      const { responses } = document.paths[path]![method.toLowerCase()]!;
      const named = responses[String(answer.status)];
      const listed = named?.$ref
        ? document.components.responses[named.$ref.split('/').at(-1)!]
        : named;
      const type = (answer.headers.get('content-type') ?? '').split(';')[0]!;
      const content = listed?.content?.[type];
      if (listed === undefined || (text !== '' && content === undefined)) faults.push(said);
      else if (content !== undefined && 'schema' in content && type === 'application/json') {
        const check = ajv.compile(withDocument(content.schema as object));
        if (!check(JSON.parse(text))) faults.push([said, ajv.errorsText(check.errors)]);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(failures).toBeGreaterThan(60);
});

/** The schema with its references told to lead into the document. */
function withDocument(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/'),
  ) as object;
}
