import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { bundleChild } from '../../../test-support/bundle-child.ts'
import { withClockAhead } from '../../../test-support/wrong-clock.ts'
import type { DeliveryOptions, ProviderName } from '../src/index.ts'
import type { Job } from './killed/jobs.ts'
import type { FlowTest } from './support.ts'

/** One line of a child: see `report` in `child.mjs`. */
export interface Report {
  readonly ready?: boolean
  /** Of the job that it is about. */
  readonly number?: number
  readonly stopped?: string
  readonly answered?: number
  readonly made?: readonly string[]
  readonly done?: boolean
  readonly failed?: string
  /** The steps of the job, in order. */
  readonly steps?: readonly string[]
  /** The event that somebody was told of, and the mail that was handed over. */
  readonly told?: string
  readonly mailed?: string
}

export interface Child {
  /** Starts a job, beside those that are under way. */
  begin(job: Job & Stop): Begun
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
}

export interface Stop {
  /** The step, from 1, before which the job stops for good. */
  readonly stopAt?: number
  /** Whether the whole process stops there. */
  readonly freezes?: boolean
}

/** A job of a child. */
export interface Begun {
  /** The first report that has this member. */
  until(member: keyof Report): Promise<Report>
  /** What came of it: it stopped at the chosen step, is done, or failed. */
  outcome(): Promise<Report>
  readonly reports: () => readonly Report[]
}

export const CHILD_SECRET = 'whsec_children'
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const script = pathOf('./child.mjs')
const parts = [pathOf('./killed/jobs.ts')]

export interface ChildOptions {
  /** Where it sends events as webhooks. */
  readonly deliveries?: DeliveryOptions
  /** Whether it listens to payments, and sends receipts. */
  readonly listens?: boolean
  /** Whether owners of the name `Taxed 20` pay 20 percent. */
  readonly taxesByName?: boolean
  /** Options of billing that are JSON. */
  readonly billing?: object
  /**
   * Milliseconds by which the clock of the process is ahead. Without it billing gets the clock of the sandbox,
   * and with it none: it finds the time by itself.
   */
  readonly clockAhead?: number
}

/** Another process of the application, on the database and the sandbox of this test. */
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

/** Its reports as they come, and its end. */
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
