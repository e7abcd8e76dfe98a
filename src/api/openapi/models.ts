/**
 * Schemas shared by the parts of the document.
 *
 * A schema with `$id` is a named model; `ModelSet` puts it under `components.schemas` when it is first referred to.
 */
import { type TSchema, Type } from '@sinclair/typebox';
import { STATUS_CODES } from 'node:http';

const errorModel = Type.Object(
  {
    detail: Type.String({ examples: ['Not Found'] }),
    request_id: Type.Optional(Type.String({ description: 'Only with status 500.' })),
  },
  { $id: 'Error' },
);

const validationErrorModel = Type.Object(
  {
    type: Type.String({ examples: ['missing'] }),
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
      examples: [['body', 'username']],
    }),
    msg: Type.String(),
    input: Type.Optional(Type.Unknown()),
    ctx: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'ValidationError' },
);

const validationModel = Type.Object(
  { detail: Type.Array(validationErrorModel) },
  { $id: 'HTTPValidationError' },
);

const rowIds = Type.Array(Type.Integer({ minimum: 1 }));
const count = Type.Integer({ minimum: 0 });

export const changeModel = Type.Object(
  {
    success: Type.Literal(true),
    count,
    row_ids: rowIds,
    dry_run: Type.Optional(Type.Literal(true)),
    created: Type.Optional(Type.Integer({ minimum: 0, description: 'Of an upsert' })),
    updated: Type.Optional(Type.Integer({ minimum: 0, description: 'Of an upsert' })),
    results: Type.Optional(
      Type.Array(Type.Object({ action: Type.String(), count, row_ids: rowIds }), {
        description: 'Of a batch, one for each operation',
      }),
    ),
  },
  { $id: 'DatasetChange' },
);

const dryRun = Type.Optional(
  Type.Boolean({ default: false, description: 'Check everything and write nothing' }),
);
const anyRow = Type.Object({}, { additionalProperties: true });
const namedRow = Type.Object(
  { _row_id: Type.Integer({ minimum: 1 }) },
  { additionalProperties: true },
);
const byFilter = {
  filter: Type.Object({}, { additionalProperties: true, description: 'As for reading rows' }),
  expected_count: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Rows the filter has to match; needed to write' }),
  ),
  dry_run: dryRun,
};

const updatesModel = Type.Union(
  [
    Type.Object({
      action: Type.Literal('update'),
      data: Type.Array(namedRow),
      dry_run: dryRun,
    }),
    Type.Object({ action: Type.Literal('update'), data: anyRow, ...byFilter }),
  ],
  { $id: 'DatasetUpdates', description: 'Changes of many rows, made together or not at all' },
);

const deletesModel = Type.Union(
  [
    Type.Object({
      action: Type.Literal('delete'),
      data: Type.Array(namedRow),
      dry_run: dryRun,
    }),
    Type.Object({ action: Type.Literal('delete'), ...byFilter }),
  ],
  { $id: 'DatasetDeletes', description: 'Deletes many rows together or none' },
);

const upsertModel = Type.Object(
  {
    action: Type.Literal('upsert'),
    key: Type.Array(Type.String(), { minItems: 1, description: 'Columns that tell rows apart' }),
    data: Type.Array(anyRow),
    dry_run: dryRun,
  },
  { $id: 'DatasetUpsert', description: 'Changes rows with the same key, and appends the others' },
);

const batchModel = Type.Object(
  {
    action: Type.Literal('batch'),
    operations: Type.Array(anyRow, { description: 'Bodies of other changes', maxItems: 1000 }),
    dry_run: dryRun,
  },
  { $id: 'DatasetBatch', description: 'Several changes, made together or not at all' },
);

/** What a method takes beside one row, or a list of new ones. */
export const bulkModels = {
  create: [upsertModel, batchModel],
  update: [updatesModel],
  delete: [deletesModel],
} as const;

export type JsonObject = Record<string, unknown>;

export class ModelSet {
  readonly #models = new Map<string, JsonObject>();

  /** The schema as JSON, with references in place of named models. */
  refer(schema: TSchema): JsonObject {
    return this.#copy(schema) as JsonObject;
  }

  get models(): JsonObject {
    const names = [...this.#models.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, this.#models.get(name)]));
  }

  #copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#copy(item));
    if (value === null || typeof value !== 'object') return value;
    const { $id: name, ...members } = value as JsonObject;
    if (typeof name !== 'string') return this.#copyMembers(members);
    if (!this.#models.has(name)) {
      // Set before its members are copied: a model may contain itself.
      this.#models.set(name, {});
      this.#models.set(name, this.#copyMembers(members));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #copyMembers(members: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(members).map(([key, member]) => [key, this.#copy(member)]),
    );
  }
}

/** For statuses whose standard name says too little here. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is not usable',
  401: 'Not signed in, or the credential is not valid',
  403: 'The right is missing, or the CSRF token is',
  404: 'There is no such thing, as far as the caller may know',
  405: 'The method does not exist here, or the server is in read-only mode',
  409: 'Somebody else holds the lock, or changed it meanwhile',
  412: 'The version named by If-Match is not the present one',
  413: 'The body is too large',
  422: 'A parameter or the body has the wrong shape',
  429: 'Too many requests; Retry-After says when to come back',
  503: 'Not usable at the moment; Retry-After may say when to come back',
};

export function meaningOf(status: number): string {
  return MEANINGS[status] ?? STATUS_CODES[status] ?? `Status ${status}`;
}

const NAME_BY_STATUS = (status: number): string =>
  (STATUS_CODES[status] ?? `Status ${status}`).replace(/[^A-Za-z0-9]/g, '');

export class ErrorAnswers {
  readonly #used = new Set<number>();

  refer(statuses: Iterable<number>): JsonObject {
    const sorted = [...new Set(statuses)].sort((a, b) => a - b);
    for (const status of sorted) this.#used.add(status);
    return Object.fromEntries(
      sorted.map((status) => [
        String(status),
        { $ref: `#/components/responses/${NAME_BY_STATUS(status)}` },
      ]),
    );
  }

  components(models: ModelSet): JsonObject {
    const statuses = [...this.#used].sort((a, b) => a - b);
    return Object.fromEntries(
      statuses.map((status) => [
        NAME_BY_STATUS(status),
        {
          description: meaningOf(status),
          content: { 'application/json': { schema: models.refer(schemaOf(status)) } },
        },
      ]),
    );
  }
}

function schemaOf(status: number): TSchema {
  return status === 422 ? Type.Union([validationModel, errorModel]) : errorModel;
}

export interface DocumentParts {
  readonly models: ModelSet;
  readonly errors: ErrorAnswers;
  /** Members of an operation that requires sign-in. */
  readonly security: { readonly security?: readonly JsonObject[] };
  /** Of operations for everybody. */
  readonly noSecurity: DocumentParts['security'];
  /** Unique in the document. */
  operationId(method: string, path: string): string;
}

export const securitySchemes = {
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description:
      'Unsafe methods also need the cookie `svc_csrf` repeated in the header `X-CSRF-Token`',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  basic: { type: 'http', scheme: 'basic' },
  tokenAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word `Token`, a space, and the token',
  },
};

/** `namesSecurity`: operations that require sign-in declare how. */
export function newParts(namesSecurity: boolean): DocumentParts {
  const ids = new Set<string>();
  return {
    models: new ModelSet(),
    errors: new ErrorAnswers(),
    security: namesSecurity
      ? { security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })) }
      : {},
    noSecurity: namesSecurity ? { security: [] } : {},
    operationId(method, path) {
      const words = `${method.toLowerCase()}_${path.replace(/%[0-9A-F]{2}|[^A-Za-z0-9]+/g, '_')}`;
      const base = words.replace(/_+/g, '_').replace(/_$/, '');
      let id = base;
      for (let copy = 2; ids.has(id); copy++) id = `${base}_${copy}`;
      ids.add(id);
      return id;
    },
  };
}
