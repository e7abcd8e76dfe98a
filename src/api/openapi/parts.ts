import { ErrorAnswers } from './errors.ts';
import { type JsonObject, ModelSet } from './models.ts';

export interface DocumentParts {
  readonly models: ModelSet;
  readonly errors: ErrorAnswers;
  /** Members of an operation that requires sign-in. */
  readonly security: { readonly security?: readonly JsonObject[] };
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
