import type { BillableUser, ProviderName, Subscription } from '../../src/index.ts'
import type { StartBillingOptions } from '../../src/testing/index.ts'
import type { ChildOptions } from '../child-process.ts'
import type { FlowTest, ProviderCase } from '../support.ts'
import { doJob, type Job } from './jobs.ts'

/** Who asks. Each story of each point is lived by a user of its own. */
export interface Asking {
  readonly test: FlowTest
  readonly given: ProviderCase
  readonly user: BillableUser
  /** The token of a card that works. Braintree's works once, as a real one. */
  readonly card: string
}

/** What an application asks for, and asks for again when it got no answer. */
export interface Story {
  readonly name: string
  /** Where there is such a thing; default: everywhere. */
  readonly providers?: readonly ProviderName[]
  /** Of billing here, and in the process that is killed. */
  readonly options?: { readonly here: StartBillingOptions; readonly there: ChildOptions }
  /** Whether its process is killed before what it does to its lock, too: one story for all. */
  readonly atLocks?: boolean
  /** What there is before any of it, once for all. */
  readonly prepare?: (test: FlowTest) => Promise<unknown>
  /** Done before, undisturbed. Default: nothing. */
  readonly before?: (asking: Asking) => Promise<unknown>
  /** What happens then, to all of them at once. */
  readonly meanwhile?: (test: FlowTest) => Promise<unknown>
  readonly job: Job | ((asking: Asking) => Job)
  /** What the application does when it got no answer. Default: the same again. */
  readonly again?: (asking: Asking) => Promise<unknown>
  /** What all must have come to, wherever it was killed. Rows and operations are looked at anyway. */
  readonly outcome: Outcome | ((asking: Asking, at: string) => Promise<void>)
}

/** Of the subscription `main`. */
export interface Outcome {
  /** Cents taken from the card in the end. */
  readonly taken: number
  /** Subscriptions made at the provider, ended or not. */
  readonly made: Readonly<Record<ProviderName, number>>
  readonly plan: string
  readonly state: 'running' | 'cancelled' | 'ended'
}

/** One subscription, paid once. */
export const PAID: Outcome = {
  plan: 'monthly',
  made: { stripe: 1, braintree: 1 },
  taken: 1000,
  state: 'running',
}

export const main = ({ user }: Pick<Asking, 'user'>): Promise<Subscription> =>
  user.subscription('main')

export const subscribe = ({ user, card }: Pick<Asking, 'user' | 'card'>): Promise<Subscription> =>
  user.newSubscription('main', 'monthly').create(card)

export const beginTrial = ({ user, card }: Asking): Promise<Subscription> =>
  user.newSubscription('main', 'monthly').trialDays(9).create(card)

/** A method that is asked for, with arguments that are JSON; dates as `{ date }`. */
export const ofUser = (method: string, ...args: readonly unknown[]): Job => ({
  job: 'ask',
  of: 'user',
  method,
  args,
})
export const ofSubscription = (method: string, ...args: readonly unknown[]): Job => ({
  ...ofUser(method, ...args),
  of: 'subscription',
})
export const ofInvoice = (method: string, ...args: readonly unknown[]): Job => ({
  ...ofUser(method, ...args),
  of: 'invoice',
})

export function jobOf({ job }: Story, asking: Asking): Job {
  const { card } = asking
  return { card, ...(typeof job === 'function' ? job(asking) : job) }
}

/** In this process. */
export async function askOnce(story: Story, asking: Asking): Promise<void> {
  const { billing } = asking.test
  await doJob({ billing, report: () => undefined }, { user: asking.user, ...jobOf(story, asking) })
}

export async function askAgain(story: Story, asking: Asking): Promise<void> {
  await (story.again ? story.again(asking) : askOnce(story, asking))
}

let users = 100

/** Users of their own, each with a card, who have lived up to the job. */
export async function prepare(
  test: FlowTest,
  given: ProviderCase,
  { count, before, meanwhile }: Pick<Story, 'before' | 'meanwhile'> & { readonly count: number },
): Promise<Asking[]> {
  const made: Asking[] = []
  for (let i = 0; i < count; i++) {
    const id = ++users
    const email = `user-${id}@example.com`
    await test.database.kysely.insertInto('users').values({ id, email, name: 'Ada' }).execute()
    const user = await test.billing.user(id)
    const card = given.provider === 'stripe' ? given.card : test.sandbox.braintree.createNonce()
    const asking = { test, given, user, card }
    await before?.(asking)
    made.push(asking)
  }
  await meanwhile?.(test)
  return made
}
