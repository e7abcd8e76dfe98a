import { readSchema } from '../../operations/files/datasets.ts';
import { JsonText } from '../json-text.ts';
import { resourceArgument, requireResource } from '../named-resource.ts';
import { READER, type Tool } from '../tool.ts';

/** Answers as `GET /schema/<n>/`; `{}` for a resource that is no dataset. */
export const getSchema: Tool = {
  description: {
    name: 'get_schema',
    title: 'Get the schema of a dataset',
    description:
      'The columns of a dataset with their types and its primary key `_row_id`. An empty object for documents, media and handlers.',
    inputSchema: {
      type: 'object',
      properties: {
        resource: resourceArgument,
      },
      required: ['resource'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        columns: { description: 'Columns by name, each with its type' },
        primary_key: { description: 'Always _row_id unless a companion schema says otherwise' },
      },
      additionalProperties: true,
    },
    annotations: { title: 'Get the schema of a dataset', ...READER },
  },
  call: async (call) => {
    const resource = await requireResource(call, String(call.arguments['resource']), 'read');
    if (resource.kind.dataset === undefined) return { structured: new JsonText('{}') };
    const { json } = await readSchema(call.services, resource);
    return { structured: new JsonText(json) };
  },
};
