import type { DueQueue } from '../store/due-queue.ts'
import type { ScheduledWork } from './clock.ts'
import type { FailedJobs } from './failed-jobs.ts'

export interface DueJob {
  /** Kind of object that the job handles, such as `invoice`. Unique among the jobs of a sandbox. */
  readonly name: string
  readonly queue: DueQueue
  /**
   * Runs the due work of the object with this key. Must roll back its own changes before it throws
   * an error.
   */
  readonly run: (key: string) => void
}

/**
 * Runs of one job for one key at the same instant, above which the job counts as an endless loop.
 */
const MAX_RUNS_PER_INSTANT = 1000

/**
 * Combines a provider's jobs into one source of scheduled work. Jobs that are due at the same time
 * run in the given order. If a job throws an error, it is recorded in `failures` and retried later;
 * the other jobs and the clock continue.
 */
export function combineDueJobs(
  provider: string,
  jobs: readonly DueJob[],
  failures: FailedJobs,
): ScheduledWork {
  /** Returns when a job is due next. Postpones keys that have failed to the time of their retry. */
  const nextDueOf = ({ name, queue }: DueJob): number | null => {
    for (;;) {
      const due = queue.nextDue()
      const key = due === null ? null : queue.nextKey(due)
      if (due === null || key === null) return null
      const retryAt = failures.retryAt(name, key)
      if (retryAt === null || retryAt <= due) return due
      queue.set(key, retryAt)
    }
  }

  const runOne = (job: DueJob, key: string, at: number, runs: Map<string, number>): void => {
    const run = (runs.get(key) ?? 0) + 1
    runs.set(key, run)
    try {
      if (run > MAX_RUNS_PER_INSTANT)
        throw new Error('The job is due again after every run, without end.')
      job.run(key)
      failures.removeFailure(job.name, key)
    } catch (error) {
      failures.record(provider, job.name, key, error, at)
    }
  }

  return {
    nextDue: () => {
      let next: number | null = null
      for (const job of jobs) {
        const due = nextDueOf(job)
        if (due !== null && (next === null || due < next)) next = due
      }
      return next
    },
    fireDue: (at) => {
      const runs = new Map(jobs.map((job) => [job, new Map<string, number>()]))
      for (;;) {
        const job = jobs.find((each) => (nextDueOf(each) ?? Number.POSITIVE_INFINITY) <= at)
        const key = job?.queue.nextKey(at)
        const runsOfJob = job && runs.get(job)
        if (!runsOfJob || !key) return
        runOne(job, key, at, runsOfJob)
      }
    },
  }
}
