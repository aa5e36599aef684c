import {
  accessSync,
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { parseLine, readFileLines, writeLines } from './lines.ts'
import { STATE_FORMAT } from './snapshot.ts'
import type { SandboxStore, StoreSnapshotHead } from './store.ts'

/**
 * First line of a state file. It is followed by one line per row, and a last line with the number
 * of rows.
 */
interface Head extends StoreSnapshotHead {
  readonly version: typeof STATE_FORMAT
  readonly now: string
  /** Number of the journal that continues this file. */
  readonly journal: number
}

/** Contents of a state file, except its rows. */
export interface LoadedFile {
  readonly now: Date
  readonly journal: number
}

/**
 * Serializes the state as lines of JSON: first a head, then `["table","key",row]` for each row, and
 * `{"rows":n}` at the end. The lines are generated one by one, because JavaScript limits strings to
 * 512 MB.
 */
export function* serializeStateLines(
  now: Date,
  store: SandboxStore,
  journal = 0,
): Generator<string> {
  const head: Head = { version: STATE_FORMAT, now: now.toISOString(), journal, ...store.head() }
  yield JSON.stringify(head)
  let rows = 0
  for (const row of store.rows()) {
    yield JSON.stringify(row)
    rows++
  }
  yield JSON.stringify({ rows })
}

/**
 * Writes a state file and returns its size in bytes. It writes a temporary file and renames it, so
 * that a crash or a full disk leaves either the old state or the new one. The function is
 * synchronous, so that no request changes the state in between.
 * @throws {Error} If the file cannot be written; the previous file is unchanged.
 */
export function writeStateFile(file: string, lines: Iterable<string>, chunkSize?: number): number {
  const beside = `${file}.new`
  try {
    const descriptor = openSync(beside, 'w', 0o600)
    let size: number
    try {
      size = writeLines(descriptor, lines, chunkSize)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(beside, file)
    return size
  } catch (error) {
    removeQuietly(beside)
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `The state could not be written to ${file}: ${why}. The state saved there before is unchanged.`,
      { cause: error },
    )
  }
}

/**
 * Returns the present state as a stream that later changes do not affect. The data is in a
 * temporary file that is already deleted, so it takes no memory and leaves nothing behind.
 */
export function streamState(lines: Iterable<string>): Readable {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-export-'))
  let descriptor: number
  try {
    descriptor = openSync(join(folder, 'state.json'), 'wx+', 0o600)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    writeLines(descriptor, lines)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  return createReadStream('', { fd: descriptor, start: 0 })
}

/** Removes a file and ignores errors, because the caller reports the original one. */
function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // It is overwritten by the next attempt.
  }
}

/**
 * Checks that the folder of a state file is writable. This runs at start-up, while the user can
 * still choose another path.
 * @throws {Error} If the folder is not writable.
 */
export function checkWritable(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `The state cannot be saved in ${file}: its folder must exist and be writable (${why})`,
    )
  }
}

/**
 * Loads a state file into an empty store, row by row. Returns `null` if the file does not exist.
 * @throws {TypeError} If the file has another format, or is damaged.
 */
export async function loadStateFile(file: string, store: SandboxStore): Promise<LoadedFile | null> {
  let start: string
  try {
    start = await firstCharacters(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  checkFormat(file, start)
  return loadLines(file, store)
}

/** Rejects files of another format before any row is read. */
function checkFormat(file: string, start: string): void {
  const format = /^\{"version":(\d+),/.exec(start)?.[1]
  if (format === String(STATE_FORMAT)) return
  const fix = `Use another file, or move this one away together with its journals (${file}.journal-N) to start from scratch.`
  throw new TypeError(
    format === undefined
      ? `${file} is not a state file of this sandbox. ${fix}`
      : `${file} is a state file of format ${format}, written by another version of the sandbox, but this version reads only format ${STATE_FORMAT}. ${fix}`,
  )
}

async function firstCharacters(file: string): Promise<string> {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function loadLines(file: string, store: SandboxStore): Promise<LoadedFile> {
  let head: Head | null = null
  let rows = 0
  let counted: number | null = null
  for await (const { text } of readFileLines(file)) {
    const value = parseLine(text)
    if (head === null) head = value as Head
    else if (Array.isArray(value) && value.length === 3) {
      const [table, key, row] = value as [string, string, object]
      store.put(table, key, row)
      rows++
    } else counted = (value as { rows?: number } | null)?.rows ?? null
  }
  if (head === null || counted !== rows) {
    throw new TypeError(
      `The state file ${file} is truncated or damaged: ${rows} rows can be read, but the count recorded at its end is ${counted ?? 'nothing'}. Restore it from a backup, or move it away together with its journals (${file}.journal-N) to start from scratch.`,
    )
  }
  store.setHead(head)
  return { now: new Date(head.now), journal: head.journal }
}
