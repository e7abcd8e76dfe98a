import { openCatalogue } from '../catalogue.ts';
import { compareBytes, encodePath } from '../../base/paths.ts';
import { pathsOf } from '../../docroot/registry/addresses.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { DATASET_METHODS, READ_METHODS } from '../../operations/files/datasets.ts';
import type { Invocation } from '../command.ts';
import { commandLog, loadInvocation } from '../configuration.ts';
import { answerText } from '../printer.ts';

interface Endpoint {
  readonly path: string;
  readonly methods: readonly string[];
  readonly resource: string;
  readonly type: string;
}

export async function listEndpoints(invocation: Invocation): Promise<string> {
  const { config } = await loadInvocation(invocation);
  const catalogue = await openCatalogue(config, commandLog(config, invocation.outside), {
    readFiles: false,
  });
  const endpoints = catalogue.resources.flatMap((resource): Endpoint[] => {
    const names = new Set([resource.canonical, resource.extensionForm]);
    return [...names].map((name) => ({
      path: pathsOf(resource, encodePath(name))[0]!,
      methods: methodsOf(resource).split(', '),
      resource: resource.canonical,
      type: resource.type,
    }));
  });
  await catalogue.close();
  endpoints.sort((a, b) => compareBytes(a.path, b.path));
  return answerText(invocation, endpoints, asText);
}

function methodsOf({ type, kind, rel }: Resource): string {
  if (type === 'handler') return 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE';
  return kind.dataset?.edit && !kind.dataset.readOnlyReason?.(rel) ? DATASET_METHODS : READ_METHODS;
}

function asText(endpoints: readonly Endpoint[]): string {
  if (endpoints.length === 0) return 'No resources discovered.\n';
  return endpoints.map(({ path }) => `${path}\n`).join('');
}
