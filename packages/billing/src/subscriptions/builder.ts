import type { BillingContext } from '../context.ts'
import { InvalidArgument, type ProviderName, Unsupported } from '../errors.ts'
import type { CustomerDetails } from '../gateways/contract/gateway.ts'
import type { UserRecord } from '../storage/tables.ts'
import { createSubscription } from './create.ts'
import { requireKnownPlan } from './known-plans.ts'
import { requireCount, Subscription } from './subscription.ts'

interface Choices {
  readonly name: string
  readonly plan: string
  readonly provider: ProviderName
  readonly coupon: string | null
  readonly trialDays: number | null
  readonly quantity: number
}

/** The user as it was read, and a way to read it again after the customer was made. */
interface BuilderOwner {
  readonly record: UserRecord
  reload(): Promise<UserRecord>
}

/** Stripe takes at most two years. */
const LONGEST_TRIAL = 730

/** A subscription to be. Nothing is sent until `create()`. */
export class SubscriptionBuilder {
  readonly #context: BillingContext
  readonly #owner: BuilderOwner
  readonly #choices: Choices

  constructor(context: BillingContext, owner: BuilderOwner, choices: Choices) {
    this.#context = context
    this.#owner = owner
    this.#choices = choices
  }

  withCoupon(code: string): SubscriptionBuilder {
    return this.#with({ coupon: requireText('coupon', code) })
  }

  /** The customer is charged when the trial ends. */
  trialDays(days: number): SubscriptionBuilder {
    if (!Number.isInteger(days) || days < 0 || days > LONGEST_TRIAL) {
      throw new InvalidArgument(`A trial of ${days} days; expected 0 to ${LONGEST_TRIAL}`)
    }
    return this.#with({ trialDays: days })
  }

  /** Stripe only. */
  quantity(count: number): SubscriptionBuilder {
    return this.#with({ quantity: requireCount(count) })
  }

  /**
   * Subscribes the user. The token comes from the provider's script in the browser; without one the
   * customer's card is used. Details are for a new customer: `{ email, name, phone, … }`.
   */
  async create(token?: string | null, details: CustomerDetails = {}): Promise<Subscription> {
    const { provider, plan, quantity } = this.#choices
    if (provider === 'braintree' && quantity !== 1) {
      throw new Unsupported('Braintree has no quantities: use a plan for each size, or Stripe')
    }
    requireKnownPlan(this.#context.options, provider, plan)
    const payer = { token: token == null ? null : requireText('card token', token), details }
    const { record: user, reload } = this.#owner
    try {
      const record = await createSubscription(this.#context, user, this.#choices, payer)
      return new Subscription(this.#context, user, record)
    } finally {
      await reload()
    }
  }

  #with(choices: Partial<Choices>): SubscriptionBuilder {
    return new SubscriptionBuilder(this.#context, this.#owner, { ...this.#choices, ...choices })
  }
}

export function requireText(what: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255) return value
  throw new InvalidArgument(`The ${what} is missing, or is not text`)
}
