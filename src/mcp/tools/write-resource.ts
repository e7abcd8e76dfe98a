import { AppError } from '../../base/errors.ts';
import {
  changeRows,
  receiptOf,
  requireWritable,
  requireWritableContent,
} from '../../operations/files/datasets.ts';
import { looksAtRows } from '../../tables/edit/change-request.ts';
import { resourceArgument, requireResource } from '../named-resource.ts';
import { jsonResult, type Tool } from '../tool.ts';

const METHODS: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
  upsert: 'POST',
  batch: 'POST',
};

/**
 * Uses the same edits as `POST`, `PATCH` and `DELETE /api/<n>/`: when it answers the file is written, and search finds
 * the rows.
 */
export const writeResource: Tool = {
  description: {
    name: 'write_resource',
    title: 'Change rows of a dataset',
    description:
      'Changes the file behind a dataset, all of a call or nothing. create: `data` is a list of rows without `_row_id`. ' +
      'update: an object with `_row_id` and the columns to change, or a list of such objects. delete: an object with ' +
      '`_row_id`, or a list. upsert: `key` names the columns that tell rows apart, `data` is a list of rows: those with the ' +
      'same key are changed, the others appended. update and delete also take a `filter` (as read_resource) in place of ' +
      'row ids, with `expected_count`, the number of rows it has to match; ask with `dry_run` first. batch: `operations` is ' +
      'a list of such changes. Column names and types as get_schema gives them.',
    inputSchema: {
      type: 'object',
      properties: {
        resource: {
          ...resourceArgument,
          description: 'Name of a dataset as list_resources gives it',
        },
        action: { type: 'string', enum: ['create', 'update', 'delete', 'upsert', 'batch'] },
        data: {
          type: ['object', 'array'],
          description:
            'create, upsert: list of rows; update, delete: one row with _row_id or a list; update by filter: the columns to change',
          items: { type: 'object', additionalProperties: true },
          additionalProperties: true,
        },
        key: {
          type: 'array',
          items: { type: 'string' },
          description: 'upsert: the columns that tell rows apart',
        },
        filter: {
          type: 'object',
          additionalProperties: true,
          description: 'update, delete: which rows, in place of row ids',
        },
        expected_count: {
          type: 'integer',
          minimum: 0,
          description: 'Rows the filter has to match, else nothing is changed',
        },
        dry_run: {
          type: 'boolean',
          default: false,
          description: 'Check everything, tell the rows, change nothing',
        },
        operations: {
          type: 'array',
          items: { type: 'object', additionalProperties: true },
          description: 'batch: objects with action, data and so on, done in this order',
        },
      },
      required: ['resource', 'action'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        success: { type: 'boolean' },
        count: { type: 'integer', minimum: 0 },
        row_ids: { type: 'array', items: { type: 'integer' } },
        dry_run: { type: 'boolean' },
        created: { type: 'integer', minimum: 0, description: 'Of an upsert' },
        updated: { type: 'integer', minimum: 0, description: 'Of an upsert' },
        results: {
          type: 'array',
          items: { type: 'object', additionalProperties: true },
          description: 'Of a batch, one for each operation',
        },
      },
      required: ['success', 'count', 'row_ids'],
    },
    annotations: {
      title: 'Change rows of a dataset',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
  },
  call: async (call) => {
    const { services, caller, origin } = call;
    const { resource: name, action, ...rest } = call.arguments;
    const resource = await requireResource(call, String(name), 'write');
    const method = METHODS[String(action)]!;
    if (resource.kind.dataset === undefined) {
      const text = `Resource type '${resource.type}' does not support write operations`;
      throw new AppError('method-not-allowed', text);
    }
    requireWritable(services, resource, method);
    if (services.config.readonly) throw new AppError('read-only', 'Server is in read-only mode');
    await requireWritableContent(services, resource);
    const needed = action === 'batch' ? 'operations' : 'data';
    const isDeleteByFilter = action === 'delete' && rest['filter'] !== undefined;
    if (rest[needed] === undefined && !isDeleteByFilter) {
      throw new AppError('invalid-request', `Missing argument '${needed}'`);
    }
    const body = { action, ...rest };
    if (looksAtRows(body)) await requireResource(call, String(name), 'read');
    const change = { method, body, ifMatch: null };
    const result = await changeRows(services, caller, origin, resource, change);
    return { ...jsonResult(receiptOf(result)), isReceipt: true };
  },
};
