import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { bundleChild } from '../../../test-support/bundle-child.ts'
import { withClockAhead } from '../../../test-support/wrong-clock.ts'
import type { DeliveryOptions, ProviderName } from '../src/index.ts'
import type { Job } from './killed/jobs.ts'
import type { FlowTest } from './support.ts'

/** A line of output of a child process: see `report` in `child.mjs`. */
export interface Report {
  readonly ready?: boolean
  /** Number of the job that reports. */
  readonly number?: number
  readonly stopped?: string
  readonly answered?: number
  readonly made?: readonly string[]
  readonly done?: boolean
  readonly failed?: string
  /** The steps of the job, in order. */
  readonly steps?: readonly string[]
  /** Id of an event that a listener received. `mailed` is the id of a sent mail. */
  readonly told?: string
  readonly mailed?: string
}

export interface Child {
  /** Starts a job. Other jobs keep running. */
  begin(job: Job & StopPoint): StartedJob
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** Sends SIGKILL, and resolves when the process has exited. */
  kill(): Promise<void>
}

export interface StopPoint {
  /** The step, counted from 1, before which the job stops for good. */
  readonly stopAt?: number
  /** Whether the whole process freezes at that step. */
  readonly freezes?: boolean
}

/** A job started in a child process. */
export interface StartedJob {
  /** Waits for the first report that contains this property. */
  until(member: keyof Report): Promise<Report>
  /** Waits for the result: the job stopped at the chosen step, finished, or failed. */
  outcome(): Promise<Report>
  readonly reports: () => readonly Report[]
}

export const CHILD_SECRET = 'whsec_children'
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const script = pathOf('./child.mjs')
const parts = [pathOf('./killed/jobs.ts')]

export interface ChildOptions {
  /** Options of the process's outgoing webhooks. */
  readonly deliveries?: DeliveryOptions
  /** Whether the process has an event listener for paid invoices, and sends receipts. */
  readonly listens?: boolean
  /** Whether owners with the name `Taxed 20` are taxed 20 percent. */
  readonly taxesByName?: boolean
  /** Further options of billing, which must be JSON. */
  readonly billing?: object
  /**
   * Milliseconds by which the process's clock is ahead. If set, billing gets no `clock` option and
   * finds the time itself; if not, it uses the sandbox's clock.
   */
  readonly clockAhead?: number
}

/** Starts another process of the application, on the database and sandbox of this test. */
export async function startChild(
  test: FlowTest,
  provider: ProviderName,
  { lockLease, ...more }: { readonly lockLease: number } & ChildOptions,
): Promise<Child> {
  const { stripe, braintree } = test.sandbox
  const { environment, ...keys } = braintree.config
  const setting = {
    url: test.url,
    provider,
    lockLease,
    ...more,
    stopsEverywhere: process.env.BILLING_KILL_EVERYWHERE === '1',
    stripe: {
      secret: stripe.apiKey,
      webhookSecret: CHILD_SECRET,
      config: { ...stripe.config, maxNetworkRetries: 0 },
    },
    braintree: { keys, host: environment.server, port: environment.port },
  }
  const bundle = await bundleChild(script, parts)
  const wrong = withClockAhead(more.clockAhead ?? 0)
  const child = spawn(process.execPath, [...wrong.args, bundle, JSON.stringify(setting)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...wrong.env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { reports, gone, find } = watch(child)
  await find(({ ready }) => ready === true)
  let jobs = 0
  return {
    begin(job) {
      const number = ++jobs
      const line = { ...job, number, at: test.sandbox.clock.nowMs() }
      child.stdin?.write(`${JSON.stringify(line)}\n`)
      const first = (wanted: (report: Report) => boolean) =>
        find((each) => each.number === number && wanted(each))
      return {
        reports: () => reports.filter((each) => each.number === number),
        until: (member) => first((report) => report[member] !== undefined),
        outcome: () =>
          first(
            ({ stopped, done, failed }) =>
              stopped !== undefined || done === true || failed !== undefined,
          ),
      }
    },
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** Collects the reports of a child process, and waits for its exit. */
function watch(child: ChildProcess) {
  const reports: Report[] = []
  const watchers = new Set<() => void>()
  const tell = () => {
    for (const look of watchers) look()
  }
  let ended = false
  const gone = new Promise<void>((resolve) =>
    child.once('close', () => {
      ended = true
      tell()
      resolve()
    }),
  )
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      reports.push(JSON.parse(line))
      tell()
    })
  }
  const find = (wanted: (report: Report) => boolean) =>
    new Promise<Report>((resolve, reject) => {
      const look = () => {
        const found = reports.find(wanted)
        if (found) resolve(found)
        else if (ended) reject(new Error(`The child ended: ${JSON.stringify(reports)}`))
        if (found || ended) watchers.delete(look)
      }
      watchers.add(look)
      look()
    })
  return { reports, gone, find }
}
