import type { BillingContext } from '../../core/context.ts'
import type { SyncPlace } from '../../core/storage/tables.ts'
import { type Owner, ownerKey } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { type Drift, failureOf, type SyncFailure, type SyncOptions } from './drift.ts'
import { syncOwner } from './sync-owner.ts'

/** State shared by the phases of one `sync()`. */
export class SyncRun {
  readonly context: BillingContext
  readonly options: SyncOptions
  readonly since: Date | null
  readonly seen: SeenRows
  /** Providers that were listed completely: a row that was not listed is read by its id. */
  readonly listed: Set<ProviderName>
  readonly drift: Drift[] = []
  readonly failures: SyncFailure[] = []
  /** Owners that were read one by one. */
  readonly #read = new Set<string>()

  constructor(context: BillingContext, options: SyncOptions, from: SyncPlace | null) {
    this.context = context
    this.options = options
    this.since = from ? dateOf(from.since) : (options.since ?? null)
    this.seen = new SeenRows(from?.seen)
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
   * Reads these owners under their locks, each once per run, and reports the actual differences.
   */
  async compare(owners: readonly Owner[]): Promise<void> {
    for (const owner of owners) {
      const key = ownerKey(owner)
      if (this.#read.has(key)) continue
      this.#read.add(key)
      await this.forOwner(owner, async () => {
        const report = await syncOwner(this.context, owner, { dryRun: this.dryRun })
        this.drift.push(...report.drift)
        this.failures.push(...report.failures)
      })
    }
  }

  /** Runs work for one owner and reports a failure, so that the others continue. */
  async forOwner(owner: Owner, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.failures.push(failureOf(owner, error))
    }
  }

  /**
   * Runs work for a whole list and reports a failure once, without an owner. Returns `null` then.
   */
  async forList<T>(what: string, work: () => Promise<T>): Promise<T | null> {
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

/** A set of row ids with one bit each: a million rows take 125 kB. */
export class SeenRows {
  #bits: Uint8Array

  /** Creates the set from the result of `toString()` of an earlier one. @default empty */
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

  /** Size in bytes. */
  get size(): number {
    return this.#bits.length
  }

  toString(): string {
    return Buffer.from(this.#bits).toString('base64')
  }
}
