import type { MovableClock } from './clock/clock.ts'
import type { SandboxStore } from './store/store.ts'
import type { StoreTable } from './store/table.ts'

/** A version of an object: its state after an API call or due job changed it. */
export interface VersionRow {
  /** Kind and id of the object, separated by a space. */
  object: string
  /**
   * Kind of the object and id of its customer, separated by a space. `null` if the object belongs
   * to no customer.
   */
  owner: string | null
  /** Time of the change, in epoch milliseconds of the sandbox's clock. */
  at: number
  /** The API call or due job that made the change. */
  cause: string
  /** The object as JSON. `null` if the object was deleted. */
  text: string | null
}

/** The part of a table that the log uses. */
interface ObservedTable {
  get(key: string): object | undefined
  observe(observer: (key: string) => void): void
}

/** Number of versions kept. */
const MAX_VERSIONS = 10_000

/**
 * History of objects for Braintree, which keeps no events: stores a version of an object after
 * every step that changed it.
 */
export class VersionLog {
  readonly #clock: MovableClock
  readonly #rows: StoreTable<VersionRow>
  readonly #nextKey: () => string
  readonly #tables = new Map<string, ObservedTable>()
  /** Objects that were set or deleted in the current step. `null` between steps. */
  #touched: Map<string, readonly [kind: string, key: string]> | null = null

  constructor(store: SandboxStore, clock: MovableClock, name: string) {
    this.#clock = clock
    this.#rows = store.table(name)
    this.#rows.indexBy('object', ({ object }) => object, { fixed: true })
    this.#rows.indexBy('owner', ({ owner }) => owner, { fixed: true })
    this.#nextKey = () => String(store.nextNumber(name))
  }

  follow(kind: string, table: ObservedTable): void {
    this.#tables.set(kind, table)
    table.observe((key) => this.#touched?.set(nameOf(kind, key), [kind, key]))
  }

  /**
   * Runs a step and stores a version of each object that it changed. A step inside another step is
   * part of the outer one.
   */
  recordStep<T>(cause: string, run: () => T): T {
    if (this.#touched) return run()
    const touched = new Map<string, readonly [kind: string, key: string]>()
    this.#touched = touched
    try {
      return run()
    } finally {
      this.#touched = null
      for (const [object, [kind, key]] of touched) this.#storeVersion(cause, object, kind, key)
    }
  }

  /** Returns the stored versions of an object, oldest first. */
  versionsOf(kind: string, key: string): VersionRow[] {
    return this.#rows.readBy('object', nameOf(kind, key))
  }

  /**
   * Returns the stored versions of a customer's objects of one kind, by object id, oldest first.
   */
  versionsOfOwner(kind: string, customer: string): Map<string, VersionRow[]> {
    const found = new Map<string, VersionRow[]>()
    for (const row of this.#rows.readBy('owner', nameOf(kind, customer))) {
      const key = row.object.slice(kind.length + 1)
      found.set(key, [...(found.get(key) ?? []), row])
    }
    return found
  }

  #storeVersion(cause: string, object: string, kind: string, key: string): void {
    const row = this.#tables.get(kind)?.get(key) as { customerId?: string } | undefined
    const text = row ? JSON.stringify(row) : null
    const before = this.#rows.readBy('object', object).at(-1)
    if (before?.text === text || (text === null && !before)) return
    const customer = row?.customerId
    const owner = customer === undefined ? (before?.owner ?? null) : nameOf(kind, customer)
    this.#rows.set(this.#nextKey(), { object, owner, at: this.#clock.nowMs(), cause, text })
    this.#rows.deleteOldest(() => this.#rows.size > MAX_VERSIONS)
  }
}

function nameOf(kind: string, key: string): string {
  return `${kind} ${key}`
}
