import { jsonResult, READER, type Tool } from '../tool.ts';

/** The same set as `GET /`, with an entry for each sheet. */
export const listResources: Tool = {
  description: {
    name: 'list_resources',
    title: 'List resources',
    description:
      'Lists every dataset, document, media file and handler you may read, with its type and file. Call this first: the ' +
      'names it gives are the `resource` of the other tools.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    outputSchema: {
      type: 'object',
      properties: {
        resources: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              resource: { type: 'string', description: 'Name for the other tools' },
              type: {
                type: 'string',
                description: 'csv, excel, parquet, markdown, html, file, media or handler',
              },
              path: { type: 'string', description: 'File in the published folder' },
              problem: { type: 'string', description: 'Why it cannot be read as it should' },
            },
            required: ['resource', 'type', 'path'],
          },
        },
      },
      required: ['resources'],
    },
    annotations: { title: 'List resources', ...READER },
  },
  call: async ({ services, caller }) => {
    const { resources } = await services.listReadable(caller);
    const listed = resources.map(({ name, type, rel, problem }) => ({
      resource: name,
      type,
      path: rel,
      ...(problem !== null && { problem }),
    }));
    return jsonResult({ resources: listed }, listed.length);
  },
};
