import type { Store } from '../store/store.ts'
import type { Table } from '../store/table.ts'

/** Something that fell due and could not be done. Time went on without it. */
export interface FailedJob {
  /** The provider whose job it was. */
  readonly provider: string
  /** What fell due: `subscription`, `invoice`, `subscription_schedule` … */
  readonly job: string
  /** The id of the object it was about. */
  readonly key: string
  /** Why it failed the last time. */
  readonly message: string
  /** Epoch milliseconds on the clock it fell due by. */
  readonly firstFailedAt: number
  /** Epoch milliseconds on the same clock. */
  readonly lastFailedAt: number
  /** How often it failed in a row. */
  readonly attempts: number
  /** When it is tried again: a day after the last attempt. */
  readonly retryAt: number
}

const DAY_MS = 86_400_000

/** Jobs that failed, kept with the state until they succeed; each is tried again a day later. */
export class FailedJobs {
  readonly #table: Table<FailedJob>
  readonly #log: (line: string) => void

  constructor(options: { store: Store; log?: (line: string) => void }) {
    this.#table = options.store.table<FailedJob>('failed_jobs')
    this.#log = options.log ?? ((line) => process.stderr.write(`${line}\n`))
  }

  /** Oldest first. */
  list(): FailedJob[] {
    return [...this.#table.values()].map((failed) => ({ ...failed }))
  }

  /** When a job that failed is tried again; null when it did not fail. */
  retryAt(job: string, key: string): number | null {
    if (this.#table.size === 0) return null
    return this.#table.get(`${job}:${key}`)?.retryAt ?? null
  }

  /** `now`: by the clock that the job fell due by. */
  record(provider: string, job: string, key: string, error: unknown, now: number): void {
    const message = error instanceof Error ? error.message : String(error)
    const before = this.#table.get(`${job}:${key}`)
    const failed: FailedJob = {
      provider,
      job,
      key,
      message,
      firstFailedAt: before?.firstFailedAt ?? now,
      lastFailedAt: now,
      attempts: (before?.attempts ?? 0) + 1,
      retryAt: now + DAY_MS,
    }
    this.#table.set(`${job}:${key}`, failed)
    // The same complaint every day of a year would hide the others.
    if (before?.message === message) return
    const [at, again] = [now, failed.retryAt].map((ms) => new Date(ms).toISOString())
    this.#log(
      `sandbox: ${provider} ${job} ${key} failed at ${at}: ${message} It is tried again at ${again}; everything else goes on.`,
    )
  }

  succeeded(job: string, key: string): void {
    if (this.#table.size > 0) this.#table.delete(`${job}:${key}`)
  }
}
