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
import { open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { linesOf, parseLine, writeLines } from './lines.ts'
import type { SandboxSnapshot } from './snapshot.ts'
import type { Store, StoreHead } from './store.ts'

/** The first line of a state file. One line for each row follows, and a last one that counts them. */
interface Head extends StoreHead {
  readonly version: 2
  readonly now: string
  /** The number of the journal that goes on where this file ends. */
  readonly journal?: number
}

/** What a state file says beside its rows. */
export interface LoadedFile {
  readonly now: Date
  readonly journal: number
  /** False for a file of before, which no journal can follow. */
  readonly current: boolean
}

/**
 * The state as lines of JSON: a head, `["table","key",row]` for each row, and `{"rows":n}` at the end.
 * The whole in one string could not be longer than 512 MB, which is the most that JavaScript allows.
 */
export function* stateLines(now: Date, store: Store, journal = 0): Generator<string> {
  const head: Head = { version: 2, now: now.toISOString(), journal, ...store.head() }
  yield JSON.stringify(head)
  let rows = 0
  for (const row of store.rows()) {
    yield JSON.stringify(row)
    rows++
  }
  yield JSON.stringify({ rows })
}

/**
 * Written beside and moved into place: a crash or a full disk leaves the old state or the new. In one
 * go, because a call that is handled half way would be in one table and not in the other. Returns its size.
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
      `The state could not be written to ${file}: ${why}. What was saved there before is unchanged.`,
      { cause: error },
    )
  }
}

/**
 * The state as it is now, for somebody who reads it while it changes. It waits in a file without a name, where it takes no
 * memory and of which nothing stays.
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

/** The failure that led here is the one to tell of. */
function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // It is overwritten by the next attempt.
  }
}

/** Said at the start, when there is still time to choose another place. */
export function checkWritable(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `The state cannot be kept in ${file}: its folder must exist and be writable (${why})`,
    )
  }
}

/** Puts the state a file holds into an empty store, row by row; null when there is no file. */
export async function loadStateFile(file: string, store: Store): Promise<LoadedFile | null> {
  let start: string
  try {
    start = await firstCharacters(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  if (start.startsWith('{"version":2,')) return loadLines(file, store)
  // Before version 2 a file was one snapshot, as `sandbox.snapshot()` gives it.
  const snapshot = parseSnapshot(await readFile(file, 'utf8'), file)
  store.adopt(snapshot.store)
  return { now: new Date(snapshot.now), journal: 0, current: false }
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

function parseSnapshot(text: string, file: string): SandboxSnapshot {
  const snapshot = parseLine(text) as Partial<SandboxSnapshot> | null
  if (snapshot?.version !== 1 || typeof snapshot.now !== 'string' || !snapshot.store) {
    throw new TypeError(`${file} is not a state file of this sandbox`)
  }
  return snapshot as SandboxSnapshot
}

async function loadLines(file: string, store: Store): Promise<LoadedFile> {
  let head: Head | null = null
  let rows = 0
  let counted: number | null = null
  for await (const { text } of linesOf(file)) {
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
      `${file} is a state file that was cut off or damaged: ${rows} rows can be read, ${counted ?? 'nothing'} says how many there were. Restore a copy of it, or move it away to start anew.`,
    )
  }
  store.setHead(head)
  return {
    now: new Date(head.now),
    journal: head.journal ?? 0,
    current: head.journal !== undefined,
  }
}
