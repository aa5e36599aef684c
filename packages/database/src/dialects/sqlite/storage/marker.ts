import { existsSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * A small file beside the database which records that the database was created. Without it a
 * process whose database file is missing would create an empty one, without any users and without
 * any revocations.
 */
export class SqliteMarker {
  readonly path: string
  readonly #database: string

  constructor(database: string) {
    this.path = `${database}.marker`
    this.#database = database
  }

  get exists(): boolean {
    return existsSync(this.path)
  }

  write(): void {
    const name = basename(this.#database)
    const text =
      `Tollgate made a database here: ${name}\n\n` +
      `As long as this file is here, Tollgate refuses to begin an empty ${name} in its place.\n` +
      `If ${name} is gone, restore the backup. To begin anew, delete this file.\n`
    writeFileSync(this.path, text, { mode: 0o600 })
  }

  /** Returns the error to throw instead of creating an empty database where one existed before. */
  refuse(state: 'missing' | 'empty'): Error {
    return new Error(
      `The SQLite file ${this.#database} is ${state}, but there was a database before. Restore the backup, ` +
        `or check that the right folder is mounted. To begin anew with nothing, delete ${this.path}`,
    )
  }
}
