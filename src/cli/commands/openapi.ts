/** `svc openapi`: the OpenAPI document of an empty document root (DS-192). */
import type { Command } from '../command.ts';

/** Prints the document as indented JSON. */
export const openapi: Command = {
  name: 'openapi',
  summary: 'Print the OpenAPI document of an empty document root.',
  describe: () => undefined,
  run: async ({ outside }) => {
    const { hostedDocument } = await import('../../server/openapi/api-description.ts');
    const { routes } = await import('../../server/routes/index.ts');
    outside.out(`${JSON.stringify(hostedDocument(routes), null, 2)}\n`);
    return 0;
  },
};
