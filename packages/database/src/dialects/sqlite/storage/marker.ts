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
      `Tollgate created a database here: ${name}\n\n` +
      `As long as this file exists, Tollgate refuses to create an empty ${name} in place of that database.\n` +
      `If ${name} is missing, restore the backup. To start with an empty database, delete this file.\n`
    writeFileSync(this.path, text, { mode: 0o600 })
  }

  /** Returns the error to throw instead of creating an empty database where one existed before. */
  refuse(state: 'missing' | 'empty'): Error {
    return new Error(
      `The SQLite file ${this.#database} is ${state}, but a database existed there before. Restore the backup, ` +
        `or check that the right folder is mounted. To start with an empty database, delete ${this.path}`,
    )
  }
}
