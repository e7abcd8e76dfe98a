/**
 * The version is SQLite's `user_version` and commits together with its step, so a killed process continues where it
 * stopped, and concurrent processes do each step once.
 */
import type { Database } from './database.ts';

/** Released steps never change. */
export interface Migration {
  /** After this step; the list ascends. */
  readonly version: number;
  /** File name without its extension, for the log. */
  readonly name: string;
  readonly statements: readonly string[];
}

export async function schemaVersion(db: Database): Promise<number> {
  const row = await db.get<{ user_version: number }>('PRAGMA user_version');
  return row?.user_version ?? 0;
}

export async function migrate(db: Database, migrations: readonly Migration[]): Promise<string[]> {
  const done: string[] = [];
  let previous = 0;
  for (const migration of migrations) {
    if (migration.version <= previous) {
      throw new Error(`Migration ${migration.name} must have a version above ${previous}`);
    }
    previous = migration.version;
    const isNew = await db.transaction(async (tx) => {
      if ((await schemaVersion(tx)) >= migration.version) return false;
      for (const statement of migration.statements) await tx.run(statement);
      await tx.run(`PRAGMA user_version = ${migration.version}`);
      return true;
    });
    if (isNew) done.push(migration.name);
  }
  return done;
}

export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
