import type { MovableClock } from './clock/clock.ts'
import type { Store } from './store/store.ts'
import type { Table } from './store/table.ts'

/** An object as a step left it. */
export interface VersionRow {
  /** The kind and the id. */
  object: string
  /** Whose it is: the kind and the customer; null for nobody's. */
  owner: string | null
  /** Epoch milliseconds on the sandbox's clock. */
  at: number
  /** What did it: a call, or what fell due. */
  cause: string
  /** JSON; null when it was deleted. */
  text: string | null
}

/** As much of a table as is looked at. */
interface Followed {
  get(key: string): object | undefined
  observe(observer: (key: string) => void): void
}

/** More than that nobody looks at. */
const MOST = 10_000

/** The versions of objects whose provider keeps no events: each as it was after every step that changed it. */
export class VersionLog {
  readonly #clock: MovableClock
  readonly #rows: Table<VersionRow>
  readonly #nextKey: () => string
  readonly #tables = new Map<string, Followed>()
  /** What the step that is under way has set or deleted; null between steps. */
  #touched: Map<string, readonly [kind: string, key: string]> | null = null

  constructor(store: Store, clock: MovableClock, name: string) {
    this.#clock = clock
    this.#rows = store.table(name)
    this.#rows.indexBy('object', ({ object }) => object, { fixed: true })
    this.#rows.indexBy('owner', ({ owner }) => owner, { fixed: true })
    this.#nextKey = () => String(store.nextNumber(name))
  }

  follow(kind: string, table: Followed): void {
    this.#tables.set(kind, table)
    table.observe((key) => this.#touched?.set(nameOf(kind, key), [kind, key]))
  }

  /** Does something, and keeps what it changed. A step within a step is part of it. */
  step<T>(cause: string, run: () => T): T {
    if (this.#touched) return run()
    const touched = new Map<string, readonly [kind: string, key: string]>()
    this.#touched = touched
    try {
      return run()
    } finally {
      this.#touched = null
      for (const [object, [kind, key]] of touched) this.#keep(cause, object, kind, key)
    }
  }

  /** The versions that are known, oldest first. */
  versionsOf(kind: string, key: string): VersionRow[] {
    return this.#rows.readBy('object', nameOf(kind, key))
  }

  /** What a customer once had: the versions of each by its id, oldest first. */
  versionsOfOwner(kind: string, customer: string): Map<string, VersionRow[]> {
    const found = new Map<string, VersionRow[]>()
    for (const row of this.#rows.readBy('owner', nameOf(kind, customer))) {
      const key = row.object.slice(kind.length + 1)
      found.set(key, [...(found.get(key) ?? []), row])
    }
    return found
  }

  #keep(cause: string, object: string, kind: string, key: string): void {
    const row = this.#tables.get(kind)?.get(key) as { customerId?: string } | undefined
    const text = row ? JSON.stringify(row) : null
    const before = this.#rows.readBy('object', object).at(-1)
    if (before?.text === text || (text === null && !before)) return
    const customer = row?.customerId
    const owner = customer === undefined ? (before?.owner ?? null) : nameOf(kind, customer)
    this.#rows.set(this.#nextKey(), { object, owner, at: this.#clock.nowMs(), cause, text })
    this.#rows.deleteOldest(() => this.#rows.size > MOST)
  }
}

function nameOf(kind: string, key: string): string {
  return `${kind} ${key}`
}
