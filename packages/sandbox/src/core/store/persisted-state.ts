import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { replayJournal, StateJournal } from './journal.ts'
import { loadStateFile, serializeStateLines, writeStateFile } from './state-file.ts'
import type { SandboxStore } from './store.ts'

/** Journals smaller than this number of bytes never cause a new state file. */
const MIN_JOURNAL_SIZE = 67_108_864

export interface LoadedState {
  readonly now: Date
  readonly journal: { readonly number: number; readonly size: number }
}

/**
 * Loads the state file and its journal into an empty store. Returns `null` if the file does not
 * exist.
 */
export async function loadPersistedState(
  file: string,
  store: SandboxStore,
): Promise<LoadedState | null> {
  const state = await loadStateFile(file, store)
  if (!state) return null
  const { now, journal: number } = state
  const { now: later, size } = await replayJournal(journalFile(file, number), store)
  return { now: later ?? now, journal: { number, size } }
}

/** The clock whose time is stored in the state file. */
export interface PersistedClock {
  now(): Date
  onMoved(watcher: () => void): void
}

/**
 * Persists a store in a state file, with an append-only journal of the changes since that file was
 * written. `save` writes a new state file and starts a new journal. This also happens when the
 * journal has grown to twice the size of the state file.
 */
export class PersistedState {
  readonly #file: string
  readonly #store: SandboxStore
  readonly #clock: PersistedClock
  /** Whether there is no state file yet, so that no journal can be written. */
  #isNew: boolean
  #journal: { number: number; size: number; open: StateJournal | null }
  #stateSize: number
  #changed = false
  #flushing = false
  /**
   * The last line of the last step in the journal. It can change even if no row has changed,
   * because each response draws an id from the store's generator.
   */
  #lastEnd = ''
  /**
   * Whether writing the journal failed. After that, only a complete new state file makes the state
   * safe again.
   */
  #broken = false
  #closed = false

  constructor(
    file: string,
    store: SandboxStore,
    clock: PersistedClock,
    loaded: LoadedState | null,
  ) {
    this.#file = file
    this.#store = store
    this.#clock = clock
    this.#isNew = loaded === null
    if (!existsSync(file)) rejectOrphanedJournals(file)
    const journal = loaded?.journal ?? { number: lastJournal(file), size: 0 }
    this.#journal = { ...journal, open: null }
    this.#stateSize = existsSync(file) ? statSync(file).size : 0
    this.#lastEnd = this.#end()
    store.watch({ onChange: () => this.#onChange(), flush: () => this.flush() })
    clock.onMoved(() => this.flush())
  }

  /**
   * Starts to persist changes. Call it once everything has started. Creates the state file if there
   * is none, because a journal continues a state file.
   */
  begin(): void {
    if (this.#isNew) this.save()
    else this.flush()
  }

  /**
   * Writes all changes since the last flush to the journal. Must run before a response reports the
   * changes.
   */
  flush(): void {
    const end = this.#end()
    if (this.#isNew || this.#closed || this.#broken) return
    if (!this.#changed && end === this.#lastEnd) return
    try {
      const journal = this.#openJournal()
      journal.add(this.#clock.now(), this.#store)
      this.#changed = false
      this.#lastEnd = end
      if (journal.size > Math.max(MIN_JOURNAL_SIZE, 2 * this.#stateSize)) this.save()
    } catch (error) {
      this.#broken = true
      const why = error instanceof Error ? error.message : String(error)
      process.emitWarning(
        `The sandbox cannot write its journal: ${why}. Until the state is saved or the sandbox is closed, a crash loses all changes from now on.`,
      )
    }
  }

  /**
   * Writes a complete state file and deletes the old journal. If this fails, the old file is
   * unchanged.
   */
  save(): void {
    // Another sandbox may have opened the file since.
    if (this.#closed) return
    const { number, open } = this.#journal
    // A journal left by another sandbox is neither continued nor deleted.
    const next = Math.max(number, lastJournal(this.#file)) + 1
    this.#stateSize = writeStateFile(
      this.#file,
      serializeStateLines(this.#clock.now(), this.#store, next),
    )
    this.#store.dropChanges()
    this.#changed = false
    this.#broken = false
    this.#lastEnd = this.#end()
    open?.close()
    this.#journal = { number: next, size: 0, open: null }
    if (!this.#isNew) rmSync(journalFile(this.#file, number), { force: true })
    this.#isNew = false
  }

  /** Writes the complete state file. Afterwards, nothing is written any more. */
  close(): void {
    if (this.#closed) return
    this.#store.unwatch()
    this.save()
    this.#closed = true
  }

  /**
   * Schedules a flush as a microtask. Steps are synchronous, so the step that made the change is
   * complete when the flush runs.
   */
  #onChange(): void {
    this.#changed = true
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(() => {
      this.#flushing = false
      this.flush()
    })
  }

  #openJournal(): StateJournal {
    const { number, size } = this.#journal
    this.#journal.open ??= new StateJournal(journalFile(this.#file, number), size)
    return this.#journal.open
  }

  #end(): string {
    return JSON.stringify([this.#clock.now(), this.#store.head()])
  }
}

function journalFile(file: string, number: number): string {
  return `${file}.journal-${number}`
}

function journalsOf(file: string): number[] {
  const start = `${basename(file)}.journal-`
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
}

function lastJournal(file: string): number {
  return Math.max(0, ...journalsOf(file))
}

/**
 * Rejects journals without a state file: they may hold the newest part of a state whose file was
 * moved or lost.
 */
function rejectOrphanedJournals(file: string): void {
  const left = journalsOf(file).map((number) => journalFile(file, number))
  if (left.length === 0) return
  throw new TypeError(
    `The state file ${file} does not exist, but its journals do: ${left.join(', ')}. Restore the state file, or move the journals away too to start from scratch.`,
  )
}
