import { AppError } from '../../base/errors.ts';
import { changeRows, requireWritable, requireWritableContent } from '../../operations/datasets.ts';
import { MAX_NAME, requireResource } from '../named-resource.ts';
import { jsonResult, type Tool } from '../tool.ts';

const METHODS: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
};

/**
 * Uses the same edit as `POST`, `PATCH` and `DELETE /api/<n>/`: when it answers the file is written, and search finds
 * the rows.
 */
export const writeResource: Tool = {
  description: {
    name: 'write_resource',
    title: 'Change rows of a dataset',
    description:
      'Changes the file behind a dataset. create: `data` is a list of rows without `_row_id`. update: an object with `_row_id` ' +
      'and the columns to change. delete: an object with `_row_id`. Column names and types as get_schema gives them.',
    inputSchema: {
      type: 'object',
      properties: {
        resource: {
          type: 'string',
          maxLength: MAX_NAME,
          description: 'Name of a dataset as list_resources gives it',
        },
        action: { type: 'string', enum: ['create', 'update', 'delete'] },
        data: {
          type: ['object', 'array'],
          description: 'create: list of rows; update, delete: one row with _row_id',
          items: { type: 'object', additionalProperties: true },
          additionalProperties: true,
        },
      },
      required: ['resource', 'action', 'data'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        success: { type: 'boolean' },
        count: { type: 'integer', minimum: 0 },
        row_ids: { type: 'array', items: { type: 'integer' } },
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
    const { resource: name, action, data } = call.arguments;
    const resource = await requireResource(call, String(name), 'write');
    const method = METHODS[String(action)]!;
    if (resource.kind.dataset === undefined) {
      const text = `Resource type '${resource.type}' does not support write operations`;
      throw new AppError('method-not-allowed', text);
    }
    requireWritable(services, resource, method);
    if (services.config.readonly) throw new AppError('read-only', 'Server is in read-only mode');
    await requireWritableContent(services, resource);
    const change = { method, body: { action, data }, ifMatch: null };
    const { rowIds } = await changeRows(services, caller, origin, resource, change);
    const receipt = { success: true, count: rowIds.length, row_ids: rowIds };
    return { ...jsonResult(receipt), isReceipt: true };
  },
};
