import type { DueQueue } from '../store/due-queue.ts'
import type { Timeline } from './clock.ts'
import type { FailedJobs } from './failed-jobs.ts'

export interface DueJob {
  /** What falls due, such as `invoice`; unique among the jobs of a sandbox. */
  readonly name: string
  readonly queue: DueQueue
  /** Does the one thing that is due for the key. It undoes what it began before it throws. */
  readonly run: (key: string) => void
}

/** More than anything honest does at one instant. */
const MOST_RUNS_AT_ONCE = 1000

/**
 * A provider's due work, the jobs named first going first. One that fails is written down and tried
 * again later: it stops neither the others nor time.
 */
export function dueJobs(provider: string, jobs: readonly DueJob[], failures: FailedJobs): Timeline {
  /** The next due time of a job; what failed moves to its next attempt on the way. */
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
      if (run > MOST_RUNS_AT_ONCE) throw new Error('It falls due again and again without an end.')
      job.run(key)
      failures.succeeded(job.name, key)
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
