import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Journal, replayJournal } from './journal.ts'
import { loadStateFile, stateLines, writeStateFile } from './state-file.ts'
import type { Store } from './store.ts'

/** Below this many bytes a journal is never too long. */
const SHORT_JOURNAL = 67_108_864

export interface LoadedState {
  readonly now: Date
  readonly journal: { readonly number: number; readonly size: number }
}

/** Puts what was kept into an empty store: the state file and its journal. Null when there is no file. */
export async function loadKeptState(file: string, store: Store): Promise<LoadedState | null> {
  const state = await loadStateFile(file, store)
  if (!state) return null
  const { now, journal: number } = state
  const { now: later, size } = await replayJournal(journalFile(file, number), store)
  return { now: later ?? now, journal: { number, size } }
}

/** The time is kept, too. */
export interface KeptClock {
  now(): Date
  onMoved(watcher: () => void): void
}

/**
 * Keeps a store in a file: the state as it was at some time, and beside it the journal of what happened
 * since. At `save`, and when the journal has become twice as long as the state, the state is written anew
 * and another journal begins.
 */
export class KeptState {
  readonly #file: string
  readonly #store: Store
  readonly #clock: KeptClock
  /** There is no state file yet that a journal could follow. */
  #isNew: boolean
  #journal: { number: number; size: number; open: Journal | null }
  #stateSize: number
  #changed = false
  #flushing = false
  /** What the last step ended with. Reading changes it too, because each answer has an id. */
  #lastEnd = ''
  /** The journal could not be written; only a whole state helps. */
  #broken = false
  #closed = false

  constructor(file: string, store: Store, clock: KeptClock, loaded: LoadedState | null) {
    this.#file = file
    this.#store = store
    this.#clock = clock
    this.#isNew = loaded === null
    if (!existsSync(file)) refuseLeftJournals(file)
    const journal = loaded?.journal ?? { number: lastJournal(file), size: 0 }
    this.#journal = { ...journal, open: null }
    this.#stateSize = existsSync(file) ? statSync(file).size : 0
    this.#lastEnd = this.#end()
    store.watch({ onChange: () => this.#onChange(), flush: () => this.flush() })
    clock.onMoved(() => this.flush())
  }

  /** Called when everything has started. A journal follows a state file, so there is one from then on. */
  begin(): void {
    if (this.#isNew) this.save()
    else this.flush()
  }

  /** Writes down what happened since the last time. Called before anybody is told of it. */
  flush(): void {
    const end = this.#end()
    if (this.#isNew || this.#closed || this.#broken) return
    if (!this.#changed && end === this.#lastEnd) return
    try {
      const journal = this.#openJournal()
      journal.add(this.#clock.now(), this.#store)
      this.#changed = false
      this.#lastEnd = end
      if (journal.size > Math.max(SHORT_JOURNAL, 2 * this.#stateSize)) this.save()
    } catch (error) {
      this.#broken = true
      const why = error instanceof Error ? error.message : String(error)
      process.emitWarning(
        `The sandbox cannot write down what happens: ${why}. Until it is saved or closed, a crash loses what happens from here on.`,
      )
    }
  }

  /** Writes the whole state, after which nobody needs its journal. A failure leaves the file as it was. */
  save(): void {
    // Another sandbox may have the file by now.
    if (this.#closed) return
    const { number, open } = this.#journal
    // A journal that somebody else has left is neither continued nor deleted.
    const next = Math.max(number, lastJournal(this.#file)) + 1
    this.#stateSize = writeStateFile(this.#file, stateLines(this.#clock.now(), this.#store, next))
    this.#store.dropChanges()
    this.#changed = false
    this.#broken = false
    this.#lastEnd = this.#end()
    open?.close()
    this.#journal = { number: next, size: 0, open: null }
    if (!this.#isNew) rmSync(journalFile(this.#file, number), { force: true })
    this.#isNew = false
  }

  /** Writes the whole state, and nothing any more afterwards. */
  close(): void {
    if (this.#closed) return
    this.#store.unwatch()
    this.save()
    this.#closed = true
  }

  /** A step is done without a pause, so that when this one's turn comes it is whole. */
  #onChange(): void {
    this.#changed = true
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(() => {
      this.#flushing = false
      this.flush()
    })
  }

  #openJournal(): Journal {
    const { number, size } = this.#journal
    this.#journal.open ??= new Journal(journalFile(this.#file, number), size)
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

/** They may hold the newest part of a state whose file was moved away or lost. */
function refuseLeftJournals(file: string): void {
  const left = journalsOf(file).map((number) => journalFile(file, number))
  if (left.length === 0) return
  throw new TypeError(
    `There is no state file ${file}, but what belongs to one is left: ${left.join(', ')}. Put the state file back, or move the journal to where it went to start anew.`,
  )
}
