import type { BillingContext } from '../../core/context.ts'
import type { SyncProgress } from '../../core/storage/tables.ts'
import { formatOwnerKey, type Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { type Drift, type SyncFailure, type SyncOptions, toSyncFailure } from './drift.ts'
import { syncOwner } from './sync-owner.ts'

/** State of one run of `sync()`, shared by the phases of the run. */
export class SyncRun {
  readonly context: BillingContext
  readonly options: SyncOptions
  readonly since: Date | null
  readonly seen: RowIdSet
  /**
   * Providers whose lists were read completely. A subscription in our database that was not on
   * their lists is read by its id.
   */
  readonly listed: Set<ProviderName>
  readonly drift: Drift[] = []
  readonly failures: SyncFailure[] = []
  /** Owners that were read one by one and not from a list. */
  readonly #read = new Set<string>()

  constructor(context: BillingContext, options: SyncOptions, from: SyncProgress | null) {
    this.context = context
    this.options = options
    this.since = from ? dateOf(from.since) : (options.since ?? null)
    this.seen = new RowIdSet(from?.seen)
    this.listed = new Set(from?.listed)
  }

  /** Number of owners that were read one by one. */
  get read(): number {
    return this.#read.size
  }

  get dryRun(): boolean {
    return this.options.dryRun ?? false
  }

  /**
   * Compares these owners with the provider under their locks, each once per run, and reports the
   * differences.
   */
  async compare(owners: readonly Owner[]): Promise<void> {
    for (const owner of owners) {
      const key = formatOwnerKey(owner)
      if (this.#read.has(key)) continue
      this.#read.add(key)
      await this.forOwner(owner, async () => {
        const report = await syncOwner(this.context, owner, { dryRun: this.dryRun })
        this.drift.push(...report.drift)
        this.failures.push(...report.failures)
      })
    }
  }

  /** Runs `work` for one owner. A failure is reported, and does not stop the run. */
  async forOwner(owner: Owner, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.failures.push(toSyncFailure(owner, error))
    }
  }

  /**
   * Runs `work` for a list of the provider. A failure is reported once, without an owner, and
   * `null` is returned.
   */
  async forList<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      const { error: why } = toSyncFailure(null, error)
      this.failures.push({ owner: null, error: `${what}: ${why}` })
      return null
    }
  }

  placeAt(phase: string, at: string | null): SyncProgress {
    const since = this.since?.getTime() ?? null
    return { phase, at, seen: this.seen.toString(), listed: [...this.listed], since }
  }
}

function dateOf(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}

/** A set of database row ids, stored with one bit each: a million rows take 125 kB. */
export class RowIdSet {
  #bits: Uint8Array

  /**
   * Restores a set from the result of another set's `toString()`.
   * @default empty
   */
  constructor(kept = '') {
    this.#bits = new Uint8Array(Buffer.from(kept, 'base64'))
  }

  add(id: number): void {
    const at = Math.floor(id / 8)
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(64, at * 2))
      larger.set(this.#bits)
      this.#bits = larger
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (id % 8))
  }

  has(id: number): boolean {
    return ((this.#bits[Math.floor(id / 8)] ?? 0) & (1 << (id % 8))) !== 0
  }

  /** Size of the set in bytes. */
  get size(): number {
    return this.#bits.length
  }

  toString(): string {
    return Buffer.from(this.#bits).toString('base64')
  }
}
