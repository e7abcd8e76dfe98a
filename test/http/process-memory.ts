/**
 * Memory, work and children of a running process, as the kernel tells them.
 */
import { readFileSync, writeFileSync } from 'node:fs';

/** Bytes of a process. */
interface Memory {
  /** Resident now. */
  readonly resident: number;
  /** Most that was resident so far. */
  readonly peak: number;
}

/** Null when the process is gone. */
export function memoryOf(pid: number): Memory | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
    return { resident: bytes('VmRSS'), peak: bytes('VmHWM') };
  } catch {
    // It ended between two looks.
    return null;
  }
}

/** Bytes that a process has for itself; what files bring with them goes when it is needed elsewhere. 0 when it is gone. */
export function ownMemoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    // It ended between two looks.
    return 0;
  }
}

/** The same of the process and its children together. */
export function ownMemoryOfAll(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + ownMemoryOf(child.pid), ownMemoryOf(pid));
}

/** Milliseconds of processor time so far, in steps of 10; 0 when the process is gone. */
export function workOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    // It ended between two looks.
    return 0;
  }
}

/** Lets `peak` begin again from what is resident now. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Processes the process has started and that still run, with their command lines. */
export function childrenOf(pid: number): { readonly pid: number; readonly command: string }[] {
  try {
    const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    if (ids === '') return [];
    return ids.split(' ').flatMap((id) => {
      const command = commandOf(Number(id));
      return command === null ? [] : [{ pid: Number(id), command }];
    });
  } catch {
    // It ended between two looks.
    return [];
  }
}

/** Resident bytes of the process and its children together. */
export function residentWithChildren(pid: number): number {
  const all = [pid, ...childrenOf(pid).map((child) => child.pid)];
  return all.reduce((sum, one) => sum + (memoryOf(one)?.resident ?? 0), 0);
}

function commandOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // It ended between two looks.
    return null;
  }
}
