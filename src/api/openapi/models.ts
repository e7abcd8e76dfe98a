/**
 * Schemas shared by the parts of the document.
 *
 * A schema with `$id` is a named model; `ModelSet` puts it under `components.schemas` when it is first referred to.
 */
import { type TSchema, Type } from '@sinclair/typebox';

export const errorModel = Type.Object(
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

export const validationModel = Type.Object(
  { detail: Type.Array(validationErrorModel) },
  { $id: 'HTTPValidationError' },
);

export const changeModel = Type.Object(
  {
    success: Type.Literal(true),
    count: Type.Integer({ minimum: 0 }),
    row_ids: Type.Array(Type.Integer({ minimum: 1 })),
  },
  { $id: 'DatasetChange' },
);

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
