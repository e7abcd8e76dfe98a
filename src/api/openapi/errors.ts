/** One shared response for each status. */
import { STATUS_CODES } from 'node:http';
import { type TSchema, Type } from '@sinclair/typebox';
import { errorModel, type JsonObject, type ModelSet, validationModel } from './models.ts';

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
