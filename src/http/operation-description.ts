/**
 * What a route says of each method for the OpenAPI document. Schemas are TypeBox values, so JSON Schema of OpenAPI 3.1; one
 * with a `$id` stands once, in `components.schemas`.
 */
import type { TSchema } from '@sinclair/typebox';
import type { Grants } from '../accounts/rights/permissions.ts';
import type { Caller } from '../accounts/rights/principal.ts';

/** HEAD and OPTIONS follow from them. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | DavMethod;
/** Of WebDAV, which no document describes. */
export type DavMethod =
  'OPTIONS' | 'PROPFIND' | 'PROPPATCH' | 'MKCOL' | 'COPY' | 'MOVE' | 'LOCK' | 'UNLOCK';

export interface Viewer {
  readonly caller: Caller;
  readonly grants: Grants;
  readonly readsMedia: boolean;
  /** Uploads are on too. */
  readonly mayUpload: boolean;
  /** May read or write some index. */
  readonly usesEvents: boolean;
}

/** Resources are tagged with their type instead. */
export const OPERATION_TAGS = [
  'auth',
  'admin',
  'search',
  'uploads',
  'system',
  'events',
  'findings',
] as const;

export type OperationTag = (typeof OPERATION_TAGS)[number];

export interface ParameterDescription {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: TSchema;
}

/** `schema` null: bytes of any shape. */
export interface BodyDescription {
  /** `application/json` unless said otherwise. */
  readonly mediaType?: string;
  readonly schema: TSchema | null;
  readonly required?: boolean;
}

/** Null: those of every other route. */
export type FailureBodies = (status: number) => readonly BodyDescription[] | null;

/** `schema` null: no body, or bytes of `mediaType`. */
export interface AnswerDescription {
  readonly description: string;
  readonly mediaType?: string;
  readonly schema: TSchema | null;
  /** HTML clients get a page instead. */
  readonly hasPage?: boolean;
}

export interface OperationDescription {
  /** In the imperative, without a full stop: `List the users`. */
  readonly summary: string;
  readonly tag: OperationTag;
  /** Plain path parameters need no entry. */
  readonly parameters?: readonly ParameterDescription[];
  readonly body?: BodyDescription | readonly BodyDescription[];
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Beyond 401, 403 and 405, which follow from the route. */
  readonly errors?: readonly number[];
}
