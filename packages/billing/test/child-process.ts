import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { bundleChild } from '../../../test-support/bundle-child.ts'
import type { DeliveryOptions, ProviderName } from '../src/index.ts'
import type { Job } from './killed/jobs.ts'
import type { FlowTest } from './support.ts'

/** One line of a child: see `report` in `child.mjs`. */
export interface Report {
  readonly ready?: boolean
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
  /** Starts its one job. */
  begin(job: Job & { readonly stopAt?: number }): void
  /** The first report that has this member. */
  until(member: keyof Report): Promise<Report>
  /** What came of the job: it stopped at the chosen step, is done, or failed. */
  outcome(): Promise<Report>
  readonly reports: readonly Report[]
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
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
  /** Whether owners of the name `Taxed` pay 20 percent. */
  readonly taxesByName?: boolean
  /** Options of billing that are JSON. */
  readonly billing?: object
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
    now: test.sandbox.clock.nowMs(),
    stripe: {
      secret: stripe.apiKey,
      webhookSecret: CHILD_SECRET,
      config: { ...stripe.config, maxNetworkRetries: 0 },
    },
    braintree: { keys, host: environment.server, port: environment.port },
  }
  const bundle = await bundleChild(script, parts)
  const child = spawn(process.execPath, [bundle, JSON.stringify(setting)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const made = watch(child)
  await made.until('ready')
  return made
}

function watch(child: ChildProcess): Child {
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
  return {
    reports,
    begin: (job) => void child.stdin?.write(`${JSON.stringify(job)}\n`),
    until: (member) => find((report) => report[member] !== undefined),
    outcome: () =>
      find(
        ({ stopped, done, failed }) =>
          stopped !== undefined || done === true || failed !== undefined,
      ),
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
