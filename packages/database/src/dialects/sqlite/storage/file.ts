import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Identity of an open file. While a file is open, no other file gets its inode number. */
interface KnownFile {
  readonly path: string
  readonly dev: number
  readonly ino: number
}

/**
 * The file of a database and its write-ahead log, as they were when they were opened. A process can
 * continue to read and write files that were removed or replaced, but everything it writes is lost
 * when it ends.
 */
export class SqliteFile {
  readonly path: string
  #known: readonly KnownFile[] = []

  constructor(path: string) {
    this.path = path
  }

  /**
   * The URI that opens the file only if it exists. With a plain path, SQLite would create an empty
   * file in place of a missing one.
   */
  get address(): string {
    return `${pathToFileURL(this.path)}?mode=rw`
  }

  /**
   * Creates the file with access for its owner only. SQLite gives the files that it creates beside
   * it the same permissions.
   */
  create(): void {
    try {
      closeSync(openSync(this.path, 'wx', 0o600))
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'EEXIST') return
      const folder = dirname(this.path)
      throw new Error(
        `The SQLite file ${this.path} cannot be created (${code}); this user needs read and write access to the folder ${folder}`,
        { cause },
      )
    }
  }

  /**
   * Remembers which files are present now (the database and its write-ahead log). From now on
   * `requireUnchanged()` throws if they are replaced.
   */
  remember(): void {
    this.#known = [this.path, `${this.path}-wal`].map((path) => {
      // Without the hint, Next would assume that any file of the project may be read here, and
      // deploy all of them.
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

/** The SQLite file was removed or replaced while it was open. The error's kind is `broken`. */
export class SqliteFileGone extends Error {
  override readonly name = 'SqliteFileGone'
  readonly code = FILE_GONE

  constructor(path: string) {
    super(
      `The SQLite file ${path} was moved, deleted or replaced while in use. Nothing is read or written ` +
        'until it is back in place. To use another file, restart.',
    )
  }
}
