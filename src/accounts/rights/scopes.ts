/** Texts `read`, `write`, `read:<pattern>`, `write:<pattern>`; null is no restriction. */
import type { ValidationIssue } from '../../base/errors.ts';
import { invalidRequest } from '../../base/errors.ts';
import type { Scope } from './principal.ts';
import { isFolderName, normalResource } from './resource-names.ts';

export const MAX_SCOPES = 64;
const LOC = ['body', 'scopes'] as const;

/** Absent and null mean null. Throws `invalid-request`. */
export function parseScopes(value: unknown): Scope[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) {
    throw invalidRequest({ type: 'list_type', loc: LOC, msg: 'Scopes are a list' });
  }
  if (value.length === 0 || value.length > MAX_SCOPES) {
    throw invalidRequest({
      type: 'value_error',
      loc: LOC,
      msg: `A key has 1 to ${MAX_SCOPES} scopes`,
    });
  }
  const scopes: Scope[] = [];
  const issues: ValidationIssue[] = [];
  for (const [index, text] of value.entries()) {
    const scope = typeof text === 'string' ? parseScope(text) : null;
    if (scope !== null) scopes.push(scope);
    else issues.push(issueAt(index, text));
  }
  if (issues.length > 0) throw invalidRequest(...issues);
  return scopes;
}

function issueAt(index: number, text: unknown): ValidationIssue {
  const loc = [...LOC, index];
  if (typeof text !== 'string') {
    return { type: 'string_type', loc, msg: 'A scope is a string' };
  }
  const msg = 'A scope is read, write, read:<pattern> or write:<pattern>, for a folder <folder>/*';
  return { type: 'value_error', loc, msg, input: text };
}

function parseScope(text: string): Scope | null {
  const found = /^(read|write)(?::(.*))?$/su.exec(text.trim());
  if (found === null) return null;
  const verb = found[1] === 'read' ? 'read' : 'write';
  if (found[2] === undefined) return { verb, pattern: null };
  const pattern = normalResource(found[2]);
  // The docroot boundary is no pattern here: uploads need the whole verb.
  if (pattern === '' || pattern.startsWith('/') || isFolderName(pattern)) return null;
  return { verb, pattern };
}

export function formatScopes(scopes: readonly Scope[]): string[] {
  return scopes.map(({ verb, pattern }) => (pattern === null ? verb : `${verb}:${pattern}`));
}
