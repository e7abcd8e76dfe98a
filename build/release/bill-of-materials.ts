/**
 * The bill of materials of a release: CycloneDX 1.6 in JSON, one component for each package that is inside.
 *
 * The same source gives the same bytes: the serial number comes from what the document says, the time is the commit's.
 */
import { ComponentType, HashAlgorithm, LifecyclePhase } from '@cyclonedx/cyclonedx-library/Enums';
import { Factories } from '@cyclonedx/cyclonedx-library/Contrib/License';
import { Bom, Component, NamedLicense, Property } from '@cyclonedx/cyclonedx-library/Models';
import type { License } from '@cyclonedx/cyclonedx-library/Models';
import { JSON as JsonForm, JsonSerializer } from '@cyclonedx/cyclonedx-library/Serialize';
import { Spec1dot6 } from '@cyclonedx/cyclonedx-library/Spec';
import parse from 'spdx-expression-parse';
import manifest from '../../package.json' with { type: 'json' };
import type { ThirdParty } from '../../src/cli/third-party.ts';

/** What the bill is of. */
export interface ReleaseIdentity {
  /** Version of package.json. */
  readonly version: string;
  /** Full hash of the commit. */
  readonly commit: string;
  /** When it was committed. */
  readonly committed: Date;
}

const licenses = new Factories.LicenseFactory(parse);

/** The document as text, ending with a line end. */
export function billOfMaterials(identity: ReleaseIdentity, parties: readonly ThirdParty[]): string {
  const packages = parties.filter(({ partOf }) => partOf === null);
  const components = new Map(packages.map((party) => [party.name, componentOf(party)]));
  for (const party of parties) {
    if (party.partOf !== null) components.get(party.partOf)?.components.add(componentOf(party));
    for (const name of party.uses) {
      components.get(party.name)?.dependencies.add(components.get(name)!.bomRef);
    }
  }
  const bom = new Bom();
  bom.metadata.timestamp = identity.committed;
  bom.metadata.lifecycles.add(LifecyclePhase.Build);
  bom.metadata.component = product(identity, components);
  for (const component of components.values()) bom.components.add(component);
  const digest = new Bun.CryptoHasher('sha256').update(serialise(bom)).digest();
  bom.serialNumber = `urn:uuid:${Bun.randomUUIDv5(digest.toString('hex'), 'oid')}`;
  return `${serialise(bom)}\n`;
}

function serialise(bom: Bom): string {
  const serializer = new JsonSerializer(new JsonForm.Normalize.Factory(Spec1dot6));
  return serializer.serialize(bom, { sortLists: true, space: 2 });
}

function product(
  { version, commit }: ReleaseIdentity,
  components: ReadonlyMap<string, Component>,
): Component {
  const svc = new Component(ComponentType.Application, manifest.name, {
    bomRef: manifest.name,
    version: `${version}+${commit.slice(0, 12)}`,
    description: manifest.description,
  });
  svc.licenses.add(licenses.makeFromString(manifest.license));
  svc.properties.add(new Property('svc:commit', commit));
  for (const name of ['bun', ...Object.keys(manifest.dependencies)]) {
    const component = components.get(name);
    if (component !== undefined) svc.dependencies.add(component.bomRef);
  }
  return svc;
}

function componentOf(party: ThirdParty): Component {
  const { name, version, license, purl, sha512, partOf, patch } = party;
  const [group, plain] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const type = name === 'bun' ? ComponentType.Platform : ComponentType.Library;
  const component = new Component(type, plain!, {
    bomRef: [...(partOf === null ? [] : [partOf]), purl ?? name].join('#'),
    ...(group === undefined ? {} : { group }),
    ...(version === null ? {} : { version }),
    ...(purl === null ? {} : { purl }),
  });
  if (license !== null) component.licenses.add(licenseOf(license));
  if (sha512 !== null) component.hashes.set(HashAlgorithm['SHA-512'], sha512);
  // The checksum is that of the published archive; the patch came later.
  if (patch !== null) component.properties.add(new Property('svc:patch', patch));
  return component;
}

function licenseOf(expression: string): License {
  return expression.startsWith('LicenseRef-')
    ? new NamedLicense(expression.slice('LicenseRef-'.length))
    : licenses.makeFromString(expression);
}
