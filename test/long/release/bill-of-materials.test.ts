/**
 * The bill of materials, validated against the official schema (CycloneDX 1.6, strict).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { Version } from '@cyclonedx/cyclonedx-library/Spec';
import { JsonStrictValidator } from '@cyclonedx/cyclonedx-library/Validation';
import manifest from '../../../package.json' with { type: 'json' };
import { billOfMaterials } from '../../../build/release/bill-of-materials.ts';
import { collectThirdParty } from '../../../build/third-party/third-party.ts';
import type { ThirdParty } from '../../../src/cli/third-party.ts';

interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version?: string;
  readonly purl?: string;
  readonly 'bom-ref': string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly components?: readonly Component[];
}

interface Document {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: string[] }[];
}

const identity = {
  version: '1.2.3',
  commit: 'c0ffee'.padEnd(40, '0'),
  committed: new Date('2026-01-02T03:04:05Z'),
};
let parties: ThirdParty[] = [];
let text = '';
let document: Document;

beforeAll(async () => {
  parties = await collectThirdParty();
  text = billOfMaterials(identity, parties);
  document = JSON.parse(text) as Document;
});

const fullName = ({ group, name }: Component): string =>
  group === undefined ? name : `${group}/${name}`;

describe('the bill of materials', () => {
  test('is valid by the official schema, and a wrong one is not', async () => {
    const validator = new JsonStrictValidator(Version.v1dot6);
    expect(await validator.validate(text)).toBeNull();
    const wrong = text.replace('"type": "library"', '"type": "thing"');
    expect(await validator.validate(wrong)).not.toBeNull();
  });

  test('is of this release', () => {
    expect([document.bomFormat, document.specVersion]).toEqual(['CycloneDX', '1.6']);
    expect(document.metadata.timestamp).toBe('2026-01-02T03:04:05.000Z');
    expect(document.metadata.component).toMatchObject({
      name: 'svc',
      version: '1.2.3+c0ffee000000',
      licenses: [{ license: { id: 'MIT' } }],
    });
  });

  test('names each bundled package once, with version, address, licence and checksum', () => {
    const packages = parties.filter(({ partOf }) => partOf === null);
    expect(document.components.map(fullName).sort()).toEqual(
      packages.map(({ name }) => name).sort(),
    );
    for (const component of document.components) {
      expect(component).toMatchObject({ version: expect.any(String), purl: expect.any(String) });
      expect(component.licenses).toHaveLength(1);
      if (component.name === 'bun') continue;
      expect(component.hashes).toEqual([
        { alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) },
      ]);
    }
  });

  test('holds what the program imports and nothing of its tests', () => {
    const names = new Set(document.components.map(fullName));
    for (const name of Object.keys(manifest.dependencies)) expect(names).toContain(name);
    for (const name of Object.keys(manifest.devDependencies)) expect(names).not.toContain(name);
  });

  test('puts what came inside of a package below it', () => {
    const partsOf = (name: string): string[] =>
      document.components.find((one) => one.name === name)?.components?.map(fullName) ?? [];
    expect(partsOf('bun')).toContain('JavaScriptCore');
  });

  test('says who uses what, down from the program', () => {
    const uses = new Map(document.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
    const elysia = document.components.find(({ name }) => name === 'elysia')!['bom-ref'];
    expect(uses.get('svc')).toContain(elysia);
    expect(uses.get(elysia)).toContain(
      document.components.find(({ name }) => name === 'memoirist')!['bom-ref'],
    );
  });

  test('is the same for the same release, and another for another', () => {
    expect(billOfMaterials(identity, parties)).toBe(text);
    const other = billOfMaterials({ ...identity, commit: '1'.repeat(40) }, parties);
    expect((JSON.parse(other) as Document).serialNumber).not.toBe(document.serialNumber);
  });
});
