/** `svc openapi`: the document of an empty document root. */
import type { Command } from '../command.ts';

export const openapi: Command = {
  name: 'openapi',
  summary: 'Print the OpenAPI document of an empty document root.',
  describe: () => undefined,
  run: async ({ outside }) => {
    const { hostedDocument } = await import('../../api/openapi/api-description.ts');
    const { routes } = await import('../../routes.ts');
    outside.out(`${JSON.stringify(hostedDocument(routes), null, 2)}\n`);
    return 0;
  },
};
