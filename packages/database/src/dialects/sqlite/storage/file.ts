import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

/** As long as a file is open, no other one gets its number. */
interface KnownFile {
  readonly path: string
  readonly dev: number
  readonly ino: number
}

/**
 * The file of a database and its write-ahead log, as they were when they were opened. A process goes on
 * reading and writing files that somebody has removed or replaced: all of that is gone when it ends.
 */
export class SqliteFile {
  readonly path: string
  #known: readonly KnownFile[] = []

  constructor(path: string) {
    this.path = path
  }

  /** Opens what is there; SQLite would otherwise begin an empty file in place of one that is missing. */
  get address(): string {
    return `${pathToFileURL(this.path)}?mode=rw`
  }

  /** For the owner alone; SQLite gives its other files the same rights. */
  create(): void {
    try {
      closeSync(openSync(this.path, 'wx', 0o600))
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'EEXIST') return
      const folder = dirname(this.path)
      throw new Error(
        `The SQLite file ${this.path} cannot be created (${code}); the folder ${folder} cannot be read and written by this user`,
        { cause },
      )
    }
  }

  /** From now on they have to be these. */
  remember(): void {
    this.#known = [this.path, `${this.path}-wal`].map((path) => {
      // Next would take any file of the project for one that is read here, and deploy them all.
      const { dev, ino } = statSync(/* turbopackIgnore: true */ path)
      return { path, dev, ino }
    })
  }

  requireUnchanged(): void {
    for (const { path, dev, ino } of this.#known) {
      const found = statSync(path, { throwIfNoEntry: false })
      if (found?.ino !== ino || found.dev !== dev) throw new SqliteFileGone(path)
    }
  }
}

export const FILE_GONE = 'TOLLGATE_FILE_GONE'

/** Its kind is `broken`. */
export class SqliteFileGone extends Error {
  override readonly name = 'SqliteFileGone'
  readonly code = FILE_GONE

  constructor(path: string) {
    super(
      `The SQLite file ${path} was moved, deleted or replaced while in use. Nothing is read or written ` +
        'until it is back in its place; to go on with another file, restart.',
    )
  }
}
