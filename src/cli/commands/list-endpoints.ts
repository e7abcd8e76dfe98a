/** `svc list-endpoints`: the addresses the published files answer at, without starting a server (DS-200). */
import { compareBytes, encodePath } from '../../base/paths.ts';
import type { Command } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';

const PREFIXES = { dataset: '/api/', media: '/media/', content: '/' } as const;

interface Endpoint {
  readonly path: string;
  readonly methods: readonly string[];
  /** Canonical name. */
  readonly resource: string;
  readonly type: string;
}

/** Prints the paths of both name forms in byte order, or with `--json` what stands behind each. */
export const listEndpoints: Command = {
  name: 'list-endpoints',
  summary: 'List the addresses of the published files.',
  describe: (parser) => {
    describeConfiguration(parser);
    parser.option('--json', 'Print JSON.');
  },
  run: async (invocation) => {
    const { outside, options } = invocation;
    const { config } = await loadInvocation(invocation);
    const { openCatalogue } = await import('../catalogue.ts');
    const catalogue = await openCatalogue(config, commandLog(config, outside), {
      readFiles: false,
    });
    const endpoints = catalogue.resources.flatMap((resource): Endpoint[] => {
      const names = new Set([resource.canonical, resource.extensionForm]);
      return [...names].map((name) => ({
        path: PREFIXES[resource.family] + encodePath(name),
        methods: resource.methods,
        resource: resource.canonical,
        type: resource.type,
      }));
    });
    await catalogue.close();
    endpoints.sort((a, b) => compareBytes(a.path, b.path));
    if (options['json'] === true) outside.out(`${JSON.stringify(endpoints)}\n`);
    else if (endpoints.length === 0) outside.out('No resources discovered.\n');
    else outside.out(endpoints.map(({ path }) => `${path}\n`).join(''));
    return 0;
  },
};
