import type { BillingContext } from '../../context.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { SyncPlace } from '../../storage/tables.ts'
import { type Owner, ownerKey } from '../../values/owner.ts'
import { type Drift, failureOf, type SyncFailure, type SyncOptions } from './drift.ts'
import { SeenRows } from './seen-rows.ts'
import { syncOwner } from './sync-owner.ts'

/** State that the phases of one `sync()` share. */
export class SyncRun {
  readonly context: BillingContext
  readonly options: SyncOptions
  readonly since: Date | null
  readonly seen: SeenRows
  /** Providers of which everything was listed: a row that was not is asked for by its id. */
  readonly listed: Set<ProviderName>
  readonly drift: Drift[] = []
  readonly failures: SyncFailure[] = []
  /** Owners who were read one by one. */
  readonly #read = new Set<string>()

  constructor(context: BillingContext, options: SyncOptions, from: SyncPlace | null) {
    this.context = context
    this.options = options
    this.since = from ? dateOf(from.since) : (options.since ?? null)
    this.seen = new SeenRows(from?.seen)
    this.listed = new Set(from?.listed)
  }

  /** Number of owners who were read one by one. */
  get read(): number {
    return this.#read.size
  }

  get dryRun(): boolean {
    return this.options.dryRun ?? false
  }

  /** Reads these owners under their locks, each once in a run, and reports what really differs. */
  async look(owners: readonly Owner[]): Promise<void> {
    for (const owner of owners) {
      const key = ownerKey(owner)
      if (this.#read.has(key)) continue
      this.#read.add(key)
      await this.trying(owner, async () => {
        const report = await syncOwner(this.context, owner, { dryRun: this.dryRun })
        this.drift.push(...report.drift)
        this.failures.push(...report.failures)
      })
    }
  }

  /** Reports a failure for one owner, and lets the others go on. */
  async trying(owner: Owner, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.failures.push(failureOf(owner, error))
    }
  }

  /** Reports a failure of a whole list once, without an owner. Returns null then. */
  async listing<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      const { error: why } = failureOf(null, error)
      this.failures.push({ owner: null, error: `${what}: ${why}` })
      return null
    }
  }

  placeAt(phase: string, at: string | null): SyncPlace {
    const since = this.since?.getTime() ?? null
    return { phase, at, seen: this.seen.toString(), listed: [...this.listed], since }
  }
}

function dateOf(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}
