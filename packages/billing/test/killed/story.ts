import type { BillableUser, ProviderName, Subscription } from '../../src/index.ts'
import type { StartBillingOptions } from '../../src/testing/index.ts'
import type { ChildOptions } from '../child-process.ts'
import type { FlowTest, ProviderCase } from '../support.ts'
import { doJob, type Job } from './jobs.ts'

/** One run of a story, with its own user. */
export interface StoryRun {
  readonly test: FlowTest
  readonly given: ProviderCase
  readonly user: BillableUser
  /** Token of a working card. A Braintree nonce works once, like a real one. */
  readonly card: string
}

/** Something that an application does, and repeats after a lost response. */
export interface Story {
  readonly name: string
  /** The providers that support the story. @default all */
  readonly providers?: readonly ProviderName[]
  /** Options of billing in this process, and in the process to be killed. */
  readonly options?: { readonly here: StartBillingOptions; readonly there: ChildOptions }
  /** Whether to kill the process before writes to its lock, too. One story tests this for all. */
  readonly atLocks?: boolean
  /** Prepares the test once for all runs. */
  readonly prepare?: (test: FlowTest) => Promise<unknown>
  /** Prepares each run, before any process is killed. @default nothing */
  readonly before?: (run: StoryRun) => Promise<unknown>
  /** Runs once after all runs are prepared. @default nothing */
  readonly meanwhile?: (test: FlowTest) => Promise<unknown>
  readonly job: Job | ((run: StoryRun) => Job)
  /** Repeats the job as the application does after a lost response. @default the same job */
  readonly again?: (run: StoryRun) => Promise<unknown>
  /**
   * The expected result, wherever the process was killed. Rows and operations are always checked
   * too.
   */
  readonly outcome: Outcome | ((run: StoryRun, at: string) => Promise<void>)
}

/** Expected state of the subscription `main`. */
export interface Outcome {
  /** Total charged to the card, in cents. */
  readonly taken: number
  /** Number of subscriptions created at the provider, including ended ones. */
  readonly made: Readonly<Record<ProviderName, number>>
  readonly plan: string
  readonly state: 'running' | 'cancelled' | 'ended'
}

/** One running subscription, paid once. */
export const PAID_SUBSCRIPTION: Outcome = {
  plan: 'monthly',
  made: { stripe: 1, braintree: 1 },
  taken: 1000,
  state: 'running',
}

export const findMainSubscription = ({ user }: Pick<StoryRun, 'user'>): Promise<Subscription> =>
  user.subscription('main')

export const subscribe = ({ user, card }: Pick<StoryRun, 'user' | 'card'>): Promise<Subscription> =>
  user.newSubscription('main', 'monthly').create(card)

export const beginTrial = ({ user, card }: StoryRun): Promise<Subscription> =>
  user.newSubscription('main', 'monthly').trialDays(9).create(card)

/**
 * Makes a job that calls a method of the user. Arguments must be JSON; write dates as `{ date }`.
 */
export const userJob = (method: string, ...args: readonly unknown[]): Job => ({
  job: 'ask',
  of: 'user',
  method,
  args,
})
export const subscriptionJob = (method: string, ...args: readonly unknown[]): Job => ({
  ...userJob(method, ...args),
  of: 'subscription',
})
export const invoiceJob = (method: string, ...args: readonly unknown[]): Job => ({
  ...userJob(method, ...args),
  of: 'invoice',
})

export function jobOf({ job }: Story, run: StoryRun): Job {
  const { card } = run
  return { card, ...(typeof job === 'function' ? job(run) : job) }
}

/** Runs the job of a story in this process. */
export async function runJob(story: Story, run: StoryRun): Promise<void> {
  const { billing } = run.test
  await doJob({ billing, report: () => undefined }, { user: run.user, ...jobOf(story, run) })
}

export async function retryJob(story: Story, run: StoryRun): Promise<void> {
  await (story.again ? story.again(run) : runJob(story, run))
}

let users = 100

/** Creates users for the runs, each with a card, and brings them to the start of the job. */
export async function prepare(
  test: FlowTest,
  testProvider: ProviderCase,
  { count, before, meanwhile }: Pick<Story, 'before' | 'meanwhile'> & { readonly count: number },
): Promise<StoryRun[]> {
  const made: StoryRun[] = []
  for (let i = 0; i < count; i++) {
    const id = ++users
    const email = `user-${id}@example.com`
    await test.database.kysely.insertInto('users').values({ id, email, name: 'Ada' }).execute()
    const user = await test.billing.user(id)
    const card =
      testProvider.provider === 'stripe' ? testProvider.card : test.sandbox.braintree.createNonce()
    const run = { test, given: testProvider, user, card }
    await before?.(run)
    made.push(run)
  }
  await meanwhile?.(test)
  return made
}
