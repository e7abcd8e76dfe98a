/** The job of the process that seals: one part, which the server then has the writer take in. */
import { AppError, errnoOf } from '../../base/errors.ts';
import { sealStep, type SealStep } from './sealer.ts';

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

export function sealJobs(): Record<string, (body: unknown) => Response> {
  return {
    step: (body) => {
      try {
        return Response.json(sealStep(body as SealStep));
      } catch (error) {
        if (!FULL.has(errnoOf(error) ?? '')) throw error;
        throw new AppError('no-space', 'The disk is full', { cause: error });
      }
    },
  };
}
