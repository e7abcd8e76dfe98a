import { expect, test } from 'bun:test';
import { MountList, mountsOf } from '../../src/base/files/mounts.ts';

/** Lines as Linux writes them: id, parent, device, root, mount point, options, optional fields, `-`, type, source, options. */
const LIST = [
  '22 27 0:21 / /proc rw,relatime - proc proc rw',
  '27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw',
  '40 27 8:17 / /data rw,noatime - xfs /dev/sdb1 rw',
  '41 40 0:50 / /data/team\\040files/shared rw - nfs4 server:/export rw,vers=4.2',
  '42 40 0:51 / /data/database rw - tmpfs tmpfs rw',
  '43 27 0:52 / /home/ana/far rw - fuse.sshfs ana@far: rw',
  '44 27 0:53 / /Gr\u00c3\u00b6\u00c3\u009fe rw - cifs //nas/x rw',
  '',
].join('\n');

test('a folder is made of what it lies on and what is mounted in it', () => {
  expect(mountsOf('/data', LIST)).toEqual({
    identity: '40 /data\n41 /data/team files/shared\n42 /data/database',
    isShared: true,
    liesOnShared: false,
  });
  expect(mountsOf('/data/base', LIST)).toEqual({
    identity: '40 /data',
    isShared: false,
    liesOnShared: false,
  });
  expect(mountsOf('/data/team files/shared/a', LIST).liesOnShared).toBe(true);
  expect(mountsOf('/home/ana', LIST).isShared).toBe(true);
  expect(mountsOf('/home/anastasia', LIST)).toEqual({
    identity: '27 /',
    isShared: false,
    liesOnShared: false,
  });
  expect(mountsOf('/Größe/x', LIST).isShared).toBe(true);
  expect(mountsOf('/', LIST).identity.split('\n')).toHaveLength(7);
});

test('of two mounts at one place the later one counts', () => {
  const again = `${LIST}45 40 0:60 / /data rw - cifs //nas/data rw\n`;
  expect(mountsOf('/data/base', again)).toEqual({
    identity: '45 /data',
    isShared: true,
    liesOnShared: true,
  });
});

test('a list that cannot be read for now leaves what was known', () => {
  const lists = [null, LIST, null, `${LIST}45 40 0:60 / /data/new rw - tmpfs tmpfs rw\n`];
  const mounts = new MountList(() => lists.shift() ?? null);
  expect(mounts.of('/data').identity).toBe('');
  const known = mounts.of('/data');
  expect(known).toEqual(mountsOf('/data', LIST));
  expect(mounts.of('/data')).toBe(known);
  expect(mounts.of('/data').identity).toEndWith('45 /data/new');
});

test('without a list nothing is known', () => {
  expect(mountsOf('/data', '')).toEqual({ identity: '', isShared: false, liesOnShared: false });
  expect(mountsOf('/data', 'what a later kernel may write\n- -\n')).toEqual({
    identity: '',
    isShared: false,
    liesOnShared: false,
  });
});
