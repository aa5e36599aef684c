import type { SandboxStore } from '../store/store.ts'
import type { StoreTable } from '../store/table.ts'

/**
 * A scheduled job, such as a renewal, that threw an error when it was due. The clock continued
 * without it.
 */
export interface FailedJob {
  /** Provider of the job: `stripe` or `braintree`. */
  readonly provider: string
  /**
   * Kind of object that the job handles, such as `subscription`, `invoice` or
   * `subscription_schedule`.
   */
  readonly job: string
  /** Id of the object for which the job failed. */
  readonly key: string
  /** Error message of the last attempt. */
  readonly message: string
  /**
   * Time of the first failure, in epoch milliseconds of the job's clock (the sandbox's or a Stripe
   * test clock).
   */
  readonly firstFailedAt: number
  /**
   * Time of the last failure, in epoch milliseconds of the job's clock (the sandbox's or a Stripe
   * test clock).
   */
  readonly lastFailedAt: number
  /** Number of failed attempts in a row. */
  readonly attempts: number
  /**
   * Time of the next attempt, one day after the last one, in epoch milliseconds of the job's clock
   * (the sandbox's or a Stripe test clock).
   */
  readonly retryAt: number
}

const DAY_MS = 86_400_000

/**
 * The scheduled jobs that have failed. They are stored with the state and retried once a day until
 * they succeed.
 */
export class FailedJobs {
  readonly #table: StoreTable<FailedJob>
  readonly #log: (line: string) => void

  constructor(options: { store: SandboxStore; log?: (line: string) => void }) {
    this.#table = options.store.table<FailedJob>('failed_jobs')
    this.#log = options.log ?? ((line) => process.stderr.write(`${line}\n`))
  }

  /** Returns the failed jobs, oldest first. */
  list(): FailedJob[] {
    return [...this.#table.values()].map((failed) => ({ ...failed }))
  }

  /**
   * Returns when a failed job is retried, in epoch milliseconds. `null` if the job has not failed.
   */
  retryAt(job: string, key: string): number | null {
    if (this.#table.size === 0) return null
    return this.#table.get(`${job}:${key}`)?.retryAt ?? null
  }

  /**
   * Records and logs a failed attempt of a job. `now` is the time of the job's clock in epoch
   * milliseconds.
   */
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
    // Logging the same error for every daily retry would hide other errors.
    if (before?.message === message) return
    const [at, again] = [now, failed.retryAt].map((ms) => new Date(ms).toISOString())
    this.#log(
      `sandbox: ${provider} ${job} ${key} failed at ${at}: ${message} It will be retried at ${again}; all other jobs continue.`,
    )
  }

  removeFailure(job: string, key: string): void {
    if (this.#table.size > 0) this.#table.delete(`${job}:${key}`)
  }
}
