/**
 * What a route says of each of its methods, for the OpenAPI document: TypeBox values, so JSON Schema of OpenAPI 3.1; one with
 * a `$id` is a named model and stands once, in `components.schemas`. A test fails for a method that says nothing.
 */
import type { TSchema } from '@sinclair/typebox';
import type { Grants } from '../accounts/rights/permissions.ts';
import type { Caller } from '../accounts/rights/principal.ts';

/** Methods a route can have; HEAD and OPTIONS follow from them. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Viewer {
  readonly caller: Caller;
  readonly grants: Grants;
  /** Can read some media file. */
  readonly readsMedia: boolean;
  /** Uploads are on and the caller holds the right to them. */
  readonly mayUpload: boolean;
  /** May read or write some index. */
  readonly usesEvents: boolean;
}

/** Groups of operations; resources are tagged with their type instead. */
export const OPERATION_TAGS = ['auth', 'admin', 'search', 'uploads', 'system', 'events'] as const;

export type OperationTag = (typeof OPERATION_TAGS)[number];

export interface ParameterDescription {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: TSchema;
}

/** A request body. `schema` null: bytes of any shape. */
export interface BodyDescription {
  /** `application/json` unless said otherwise. */
  readonly mediaType?: string;
  readonly schema: TSchema | null;
  readonly required?: boolean;
}

/** The bodies a failure with this status may have; null: those of every other route. */
export type FailureBodies = (status: number) => readonly BodyDescription[] | null;

/** What comes back with one status. `schema` null: no body, or bytes of `mediaType`. */
export interface AnswerDescription {
  readonly description: string;
  readonly mediaType?: string;
  readonly schema: TSchema | null;
  /** HTML clients get a page with the same status instead. */
  readonly hasPage?: boolean;
}

export interface OperationDescription {
  /** One sentence without a full stop, in the imperative: `List the users`. */
  readonly summary: string;
  readonly tag: OperationTag;
  /** Path parameters that are only text or digits need no entry. */
  readonly parameters?: readonly ParameterDescription[];
  readonly body?: BodyDescription | readonly BodyDescription[];
  /** Successful answers by status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Statuses of errors it can answer beyond 401, 403 and 405, which follow from the route. */
  readonly errors?: readonly number[];
}
