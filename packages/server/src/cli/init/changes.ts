import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { UsageError } from '../usage-error.ts'
import type { FileChange } from './framework.ts'
import { readText } from './project.ts'

/** A change of a file, with the permissions of the file if they must be kept. */
export interface FileChangeWithMode extends FileChange {
  readonly mode?: number
}

/** Reverts the steps of `tollgate init` after a failure, the last step first. */
export class UndoSteps {
  readonly #steps: (() => void)[] = []

  add(step: () => void): void {
    this.#steps.push(step)
  }

  run(): void {
    for (const step of this.#steps.reverse()) step()
  }
}

/**
 * Checks that every file can be written, before anything is.
 * @throws UsageError that names the first file that cannot.
 */
export function assertWritable(folder: string, changes: readonly FileChangeWithMode[]): void {
  for (const { path, before } of changes) {
    let target = join(folder, path)
    if (before === null) {
      while (!existsSync(target)) target = dirname(target)
    }
    try {
      accessSync(target, constants.W_OK)
    } catch {
      throw new UsageError(
        `${target} is not writable, so nothing was changed. Change its permissions, or run tollgate init as its owner.`,
      )
    }
  }
}

/**
 * Writes the files. The steps that restore them are added to `undo` as each file is written.
 * @throws UsageError if a file has changed since it was read or cannot be written.
 */
export function writeChanges(
  folder: string,
  changes: readonly FileChangeWithMode[],
  undo: UndoSteps,
): void {
  for (const { path, before, after, mode } of changes) {
    const file = join(folder, path)
    try {
      if (readText(file) !== before) throw new Error('it was changed by another program meanwhile')
      if (before === null) {
        createFolders(dirname(file), undo)
        // `wx` fails if another program has created the file since.
        writeFileSync(file, after, { flag: 'wx', ...(mode !== undefined && { mode }) })
        undo.add(() => rmSync(file, { force: true }))
      } else {
        const { mode: own } = statSync(file)
        undo.add(() => replaceFile(file, before, own))
        replaceFile(file, after, mode ?? own)
      }
    } catch (cause) {
      throw new UsageError(`${file} cannot be written: ${(cause as Error).message}`)
    }
  }
}

/**
 * Replaces a file at once: it keeps its contents if the process is killed, and no other user can
 * read secrets before it has its permissions. Writes to the target of a link.
 */
function replaceFile(file: string, text: string, mode: number): void {
  const target = realpathSync(file)
  const { uid, gid } = statSync(target)
  const next = `${target}.${process.pid}.tmp`
  try {
    writeFileSync(next, text, { flag: 'wx', mode: 0o600 })
    const made = statSync(next)
    if (made.uid !== uid || made.gid !== gid) chownSync(next, uid, gid)
    chmodSync(next, mode)
    renameSync(next, target)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}

function createFolders(folder: string, undo: UndoSteps): void {
  if (existsSync(folder)) return
  createFolders(dirname(folder), undo)
  mkdirSync(folder)
  undo.add(() => rmdirSync(folder))
}
