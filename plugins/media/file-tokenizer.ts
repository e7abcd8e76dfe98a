/** Random access for music-metadata through the descriptor already open. */
import type { ITokenizer } from 'strtok3';
import type { FileSource } from '../../src/base/files/file-source.ts';

/** Closing it leaves the file open. */
export async function createTokenizer(source: FileSource, mimeType: string): Promise<ITokenizer> {
  const { AbstractTokenizer, EndOfStreamError } = await import('strtok3');

  class FileTokenizer extends AbstractTokenizer {
    override readonly fileInfo = { size: source.size, mimeType };

    constructor() {
      super();
    }

    override supportsRandomAccess(): boolean {
      return true;
    }

    setPosition(position: number): void {
      this.position = position;
    }

    override async readBuffer(...given: Parameters<ITokenizer['readBuffer']>): Promise<number> {
      const { position, length } = await this.peek(...given);
      this.position = position + length;
      return length;
    }

    override async peekBuffer(...given: Parameters<ITokenizer['peekBuffer']>): Promise<number> {
      return (await this.peek(...given)).length;
    }

    private async peek(
      ...[into, options]: Parameters<ITokenizer['readBuffer']>
    ): Promise<{ position: number; length: number }> {
      const wanted = this.normalizeOptions(into, options);
      const bytes = await source.read(wanted.position, wanted.length);
      if (bytes.length < wanted.length && !wanted.mayBeLess) throw new EndOfStreamError();
      into.set(bytes);
      return { position: wanted.position, length: bytes.length };
    }
  }

  return new FileTokenizer();
}
