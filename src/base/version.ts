/**
 * The version of package.json and the commit of the build.
 *
 * `build/build.ts` sets BUILD_VERSION; from source there is none and the version ends in `+dev`.
 */
import manifest from '../../package.json' with { type: 'json' };

declare const BUILD_VERSION: string | undefined;

/** `0.3.0+1a2b3c4d5e6f`, `0.3.0` when built outside a repository, `0.3.0+dev` from source. */
export const version: string =
  typeof BUILD_VERSION === 'string' ? BUILD_VERSION : `${manifest.version}+dev`;
