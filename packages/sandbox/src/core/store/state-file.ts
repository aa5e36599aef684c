import {
  accessSync,
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SandboxSnapshot } from './snapshot.ts'
import type { Store, StoreSnapshot } from './store.ts'

/** The first line of a state file. One line for each row follows, and a last one that counts them. */
interface Head {
  readonly version: 2
  readonly now: string
  readonly seed: number
  readonly drawn: number
  readonly counters: Readonly<Record<string, number>>
}

const CHUNK = 1_048_576

/**
 * The state as lines of JSON: a head, `["table","key",row]` for each row, and `{"rows":n}` at the end.
 * The whole in one string could not be longer than 512 MB, which is the most that JavaScript allows.
 */
export function* stateLines(now: Date, store: Store): Generator<string> {
  const head: Head = { version: 2, now: now.toISOString(), ...store.head() }
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
 * go, because a call that is handled half way would be in one table and not in the other.
 */
export function writeStateFile(file: string, lines: Iterable<string>, chunkSize = CHUNK): void {
  const beside = `${file}.new`
  try {
    const descriptor = openSync(beside, 'w', 0o600)
    try {
      for (const chunk of chunksOf(lines, chunkSize)) writeWhole(descriptor, chunk)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(beside, file)
  } catch (error) {
    removeQuietly(beside)
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `The state could not be written to ${file}: ${why}. What was saved there before is unchanged.`,
      { cause: error },
    )
  }
}

/** The failure that led here is the one to tell of. */
function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // It is overwritten by the next attempt.
  }
}

/** Lines joined until they are long enough to be worth a write. */
export function* chunksOf(lines: Iterable<string>, size: number): Generator<Buffer> {
  let waiting: string[] = []
  let length = 0
  for (const line of lines) {
    waiting.push(line, '\n')
    length += line.length + 1
    if (length < size) continue
    yield Buffer.from(waiting.join(''))
    waiting = []
    length = 0
  }
  if (length > 0) yield Buffer.from(waiting.join(''))
}

function writeWhole(descriptor: number, chunk: Buffer): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at)
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

/** The state a file holds; null when there is no file. */
export async function readStateFile(file: string): Promise<SandboxSnapshot | null> {
  let start: string
  try {
    start = await firstCharacters(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  // Before version 2 a file was one snapshot, as `sandbox.snapshot()` gives it.
  if (!start.startsWith('{"version":2,')) return parseSnapshot(await readFile(file, 'utf8'), file)
  return readLines(file)
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
  const snapshot = parse(text) as Partial<SandboxSnapshot> | null
  if (snapshot?.version !== 1 || typeof snapshot.now !== 'string' || !snapshot.store) {
    throw new TypeError(`${file} is not a state file of this sandbox`)
  }
  return snapshot as SandboxSnapshot
}

async function readLines(file: string): Promise<SandboxSnapshot> {
  let head: Head | null = null
  let rows = 0
  let counted: number | null = null
  const tables: Record<string, Array<readonly [string, unknown]>> = {}
  for await (const line of linesOf(file)) {
    const value = parse(line)
    if (head === null) head = value as Head
    else if (Array.isArray(value) && value.length === 3) {
      const [table, key, row] = value as [string, string, unknown]
      tables[table] ??= []
      tables[table].push([key, row])
      rows++
    } else counted = (value as { rows?: number } | null)?.rows ?? null
  }
  if (head === null || counted !== rows) {
    throw new TypeError(
      `${file} is a state file that was cut off or damaged: ${rows} rows can be read, ${counted ?? 'nothing'} says how many there were. Restore a copy of it, or move it away to start anew.`,
    )
  }
  const { now, seed, drawn, counters } = head
  const store: StoreSnapshot = { seed, drawn, counters, tables }
  return { version: 1, now, store }
}

/** Split at newlines only: `node:readline` also splits at U+2028, which JSON may hold as it is. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let waiting: Buffer[] = []
  for await (const data of createReadStream(file, { highWaterMark: CHUNK })) {
    let rest = data as Buffer
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield Buffer.concat([...waiting, rest.subarray(0, end)]).toString('utf8')
      waiting = []
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) waiting.push(rest)
  }
  if (waiting.length > 0) yield Buffer.concat(waiting).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
