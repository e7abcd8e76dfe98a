/**
 * Files of the readers' tests that are only bytes.
 */
import type { FileSource } from '../../src/base/files/file-source.ts';
import type { EditPlan } from '../../src/tables/types.ts';

/** A source over bytes that counts what is read of it. */
export function sourceOf(bytes: Uint8Array): FileSource & { readBytes: number } {
  return {
    size: bytes.length,
    readBytes: 0,
    async read(offset, length) {
      this.readBytes += length;
      return bytes.subarray(offset, offset + length);
    },
  };
}

/** The new file: the plan's pieces, those of the old file in their places. */
export function applied(plan: EditPlan, old: Uint8Array): Buffer {
  return Buffer.concat(
    plan.pieces.map((piece) =>
      piece instanceof Uint8Array ? piece : old.subarray(piece.from, piece.to),
    ),
  );
}
