/**
 * Modules in the executable for handler files: `import { Elysia, t } from 'elysia'` needs no `node_modules`. They win
 * over a copy beside the handler, because there can be only one class `Elysia`.
 */
import * as elysia from 'elysia';
import * as typebox from '@sinclair/typebox';
import * as compiler from '@sinclair/typebox/compiler';
import * as system from '@sinclair/typebox/system';
import { data } from './data-client.ts';
import * as value from '@sinclair/typebox/value';

const MODULES: Readonly<Record<string, object>> = {
  elysia,
  svc: { data },
  '@sinclair/typebox': typebox,
  '@sinclair/typebox/compiler': compiler,
  '@sinclair/typebox/system': system,
  '@sinclair/typebox/value': value,
};

export function provideModules(): void {
  void Bun.plugin({
    name: 'svc',
    setup(builder) {
      for (const [name, exports] of Object.entries(MODULES)) {
        builder.module(name, () => ({ exports: { ...exports }, loader: 'object' }));
      }
    },
  });
}
