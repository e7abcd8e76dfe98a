import { momentFrom } from '../../api/files/moments.ts';
import { undoneReceipt, undoRequestOf } from '../../api/files/history.ts';
import { AppError, invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { requireWritable, requireWritableContent } from '../../operations/files/datasets.ts';
import { findResource, listChanges, undoChanges } from '../../operations/files/history.ts';
import { changeAt, requireWholeFile, restoreContent } from '../../operations/files/versions.ts';
import { resourceArgument } from '../named-resource.ts';
import { jsonResult, READER, type Tool } from '../tool.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;
const rowList = { type: 'array', items: { type: 'integer' } } as const;

/** Answers as `GET /api/<n>/history`. */
export const getHistory: Tool = {
  description: {
    name: 'get_history',
    title: 'See what was changed',
    description:
      'Who changed what in a dataset or file, newest first: of rows every cell before and after (`before` null: the row is new, `after` null: it ' +
      'is gone), `user` null: another program. `version`: what the file held before is kept. For those who may read and write it.',
    inputSchema: {
      type: 'object',
      properties: {
        resource: resourceArgument,
        change: { type: 'integer', description: 'This change alone, with up to 1,000 of its rows' },
        row: { type: 'integer', description: 'Changes of the row with this _row_id' },
        user: { type: 'string', description: 'Changes by this user' },
        column: { type: 'string', description: 'Changes of cells of this column' },
        limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
      },
      required: ['resource'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        changes: { type: 'array', items: { type: 'object', additionalProperties: true } },
      },
      required: ['changes'],
    },
    annotations: { title: 'See what was changed', ...READER },
  },
  call: async ({ services, caller, origin, arguments: given }) => {
    const { resource: name, change, row, user, column, limit } = given;
    const resource = await findResource(services, caller, origin, String(name));
    const filter = {
      ...(typeof change === 'number' && { change }),
      ...(typeof row === 'number' && { rowId: row }),
      ...(typeof user === 'string' && { username: user }),
      ...(typeof column === 'string' && { column }),
    };
    const most = typeof limit === 'number' ? limit : DEFAULT_LIMIT;
    const { changes } = await listChanges(services, resource, filter, most);
    return jsonResult({ changes }, changes.length);
  },
};

/** Answers as `POST /api/<n>/history`. */
export const restoreVersion: Tool = {
  description: {
    name: 'restore_version',
    title: 'Take changes back',
    description:
      'Makes rows what they were before a `change`, before all `after` a change, or before all `since` a time, as a new change that can be taken back ' +
      'too; `rows` and `columns` limit it. Cells changed since are named and nothing is done, unless `skip_conflicts`. Or, with ' +
      '`content`, the whole file becomes what it was right after that change or at that time. Ask with `dry_run` first. get_history has the ids.',
    inputSchema: {
      type: 'object',
      properties: {
        resource: resourceArgument,
        change: { type: 'integer', description: 'This change' },
        after: { type: 'integer', description: 'All changes after this one' },
        since: { type: 'string', description: 'All changes from this time on, RFC 3339' },
        content: {
          type: ['integer', 'string'],
          description: 'In place of these: the whole file, as after this change or at this time',
        },
        rows: { ...rowList, description: 'Only these rows' },
        columns: { type: 'array', items: { type: 'string' }, description: 'Only these cells' },
        skip_conflicts: { type: 'boolean', default: false },
        dry_run: { type: 'boolean', default: false },
      },
      required: ['resource'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        success: { type: 'boolean' },
        count: { type: 'integer', minimum: 0 },
        row_ids: rowList,
        changes: rowList,
        skipped: { type: 'array', items: { type: 'object', additionalProperties: true } },
        changed: { type: 'boolean', description: 'Of content: the file was different' },
      },
      required: ['success'],
    },
    annotations: {
      title: 'Take changes back',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
  },
  call: async ({ services, caller, origin, arguments: given }) => {
    const { resource: name, content, ...body } = given;
    const resource = await findResource(services, caller, origin, String(name));
    if (services.config.readonly) throw new AppError('read-only', 'Server is in read-only mode');
    if (content !== undefined) {
      const issues: ValidationIssue[] = [];
      const moment = momentFrom(content, ['content'], issues);
      if (moment === null) throw invalidRequest(...issues);
      const whole = await requireWholeFile(services, caller, origin, resource);
      const id = await changeAt(services, whole, moment);
      const changed = await restoreContent(services, caller, origin, whole, id);
      return { ...jsonResult({ success: true, changed }), isReceipt: true };
    }
    if (resource.kind.dataset === undefined) {
      throw new AppError('method-not-allowed', 'This file has no rows: give content');
    }
    requireWritable(services, resource, 'POST');
    await requireWritableContent(services, resource);
    const request = { ...undoRequestOf(body), ifMatch: null };
    const undone = await undoChanges(services, caller, origin, resource, request);
    return { ...jsonResult(undoneReceipt(undone)), isReceipt: true };
  },
};
