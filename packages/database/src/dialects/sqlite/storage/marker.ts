import { existsSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * A small file beside the database that says: there was one here. Without it a process whose file is gone
 * would begin an empty one, in which nobody has an account and no revocation ever happened.
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

  /** What to throw where an empty database would be begun in place of one that was there. */
  refuse(state: 'missing' | 'empty'): Error {
    return new Error(
      `The SQLite file ${this.#database} is ${state}, but there was a database before. Restore the backup, ` +
        `or check that the right folder is mounted. To begin anew with nothing, delete ${this.path}`,
    )
  }
}
