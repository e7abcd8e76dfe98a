import { compareBytes, encodePath } from '../../base/paths.ts';
import { pathsOf } from '../../docroot/registry/addresses.ts';
import type { Command } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';
import { describeJson, printAnswer } from '../json-output.ts';

interface Endpoint {
  readonly path: string;
  readonly methods: readonly string[];
  readonly resource: string;
  readonly type: string;
}

/**
 * `svc list-endpoints`: the published addresses in both name forms, in byte order, without starting
 * a server.
 */
export const listEndpoints: Command = {
  name: 'list-endpoints',
  summary: 'List the addresses of the published files.',
  describe: (parser) => {
    describeConfiguration(parser);
    describeJson(parser);
  },
  run: async (invocation) => {
    const { config } = await loadInvocation(invocation);
    const { openCatalogue } = await import('../catalogue.ts');
    const catalogue = await openCatalogue(config, commandLog(config, invocation.outside), {
      readFiles: false,
    });
    const endpoints = catalogue.resources.flatMap((resource): Endpoint[] => {
      const names = new Set([resource.canonical, resource.extensionForm]);
      return [...names].map((name) => ({
        path: pathsOf(resource, encodePath(name))[0]!,
        methods: resource.methods,
        resource: resource.canonical,
        type: resource.type,
      }));
    });
    await catalogue.close();
    endpoints.sort((a, b) => compareBytes(a.path, b.path));
    printAnswer(invocation, endpoints, asText);
    return 0;
  },
};

function asText(endpoints: readonly Endpoint[]): string {
  if (endpoints.length === 0) return 'No resources discovered.\n';
  return endpoints.map(({ path }) => `${path}\n`).join('');
}
