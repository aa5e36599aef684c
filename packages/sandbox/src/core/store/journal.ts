import { closeSync, existsSync, openSync, truncateSync } from 'node:fs'
import { parseLine, readFileLines, writeLines } from './lines.ts'
import type { SandboxStore, StoreSnapshotHead } from './store.ts'

/** Last line of a step. Replay ignores a step without it. */
interface StepEnd extends StoreSnapshotHead {
  readonly now: string
  readonly rows: number
}

/**
 * Append-only log of state changes. Each step writes a line `["table","key",row]` per changed row
 * (with a fourth entry `true` if the row is new), `["table","key"]` per deleted row, and an object
 * that ends the step. When `add` returns, the operating system has the data: a killed process loses
 * nothing, and only a power failure may lose the last moments.
 */
export class StateJournal {
  readonly #descriptor: number
  #size: number

  constructor(file: string, size = 0) {
    this.#descriptor = openSync(file, 'a', 0o600)
    this.#size = size
  }

  /** Size of the journal file in bytes. */
  get size(): number {
    return this.#size
  }

  add(now: Date, store: SandboxStore): void {
    this.#size += writeLines(this.#descriptor, serializeStep(now, store))
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

function* serializeStep(now: Date, store: SandboxStore): Generator<string> {
  let rows = 0
  for (const change of store.takeChanges()) {
    yield JSON.stringify(change)
    rows++
  }
  const end: StepEnd = { now: now.toISOString(), ...store.head(), rows }
  yield JSON.stringify(end)
}

/**
 * Applies the changes in a journal file to the store. Truncates an incomplete last step, which
 * remains if the process was killed. `now` is `null` if the journal contains no complete step.
 * @throws {TypeError} If a step before the last one is incomplete.
 */
export async function replayJournal(
  file: string,
  store: SandboxStore,
): Promise<{ now: Date | null; size: number }> {
  if (!existsSync(file)) return { now: null, size: 0 }
  const size = await findEnd(file)
  let end: StepEnd | null = null
  let rows = 0
  for await (const { text } of readFileLines(file, size)) {
    const value = parseLine(text)
    if (Array.isArray(value)) {
      const [table, key, row, isNew] = value as [string, string, object | undefined, true?]
      if (row === undefined || isNew) store.remove(table, key)
      if (row !== undefined) store.put(table, key, row)
      rows++
      continue
    }
    end = value as StepEnd | null
    if (end?.rows !== rows) {
      throw new TypeError(
        `The journal ${file} is damaged. Restore it and the state file from a backup, or move it away to start from the state before it.`,
      )
    }
    rows = 0
  }
  if (end) store.setHead(end)
  truncateSync(file, size)
  return { now: end && new Date(end.now), size }
}

/** Finds where the last complete step ends, in bytes. */
async function findEnd(file: string): Promise<number> {
  let found = 0
  for await (const { text, end, whole } of readFileLines(file)) {
    if (whole && text.startsWith('{') && parseLine(text) !== null) found = end
  }
  return found
}
