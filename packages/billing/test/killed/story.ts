import type { BillableUser, ProviderName, Subscription } from '../../src/index.ts'
import type { FlowTest, ProviderCase } from '../support.ts'

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
  /** Done before, undisturbed. */
  readonly before: (asking: Asking) => Promise<unknown>
  /** For `child.mjs`, which is killed meanwhile. */
  readonly job: object | ((asking: Asking) => object)
  /** What the application does when it got no answer. */
  readonly again: (asking: Asking) => Promise<unknown>
  /** What all must have come to, wherever it was killed. Rows and operations are looked at anyway. */
  readonly outcome: Outcome | ((asking: Asking, at: string) => Promise<void>)
  /** Whether rows are written; default true. */
  readonly writes?: boolean
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
