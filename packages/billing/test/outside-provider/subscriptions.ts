import {
  type Gateway,
  type NewSubscription,
  type ProviderSubscription,
  type QuantityChanges,
  type SwapPreview,
  type SwapRequest,
  UnknownPrice,
} from '@tollgate/billing'
import { describeCard } from './customers.ts'
import type { Subscription } from './ledger.ts'
import type { PaperbackOptions } from './options.ts'

const DAY = 24 * 3600 * 1000

type Subscriptions = Pick<
  Gateway,
  | 'createSubscription'
  | 'findSubscription'
  | 'findByOperation'
  | 'listSubscriptions'
  | 'findCustomerId'
  | 'requirePaid'
  | 'findDiscounts'
  | 'findTerms'
  | 'swap'
  | 'previewSwap'
  | 'setTax'
  | 'cancelAtPeriodEnd'
  | 'cancelNow'
  | 'resume'
> & { readonly quantities: QuantityChanges }

/** A month always has thirty days, and a swap costs the difference between the prices. */
export function subscriptions(options: PaperbackOptions): Subscriptions {
  const { ledger, now } = options
  const amountOf = (price: string) => {
    const amount = options.prices[price]
    if (amount !== undefined) return amount
    throw new UnknownPrice(`There is no price ${price}`, {
      provider: 'paperback',
      providerCode: null,
    })
  }
  const require = (id: string) => {
    const found = ledger.subscriptions.get(id)
    if (!found) throw new Error(`There is no subscription ${id}`)
    return found
  }

  function create(wanted: NewSubscription): Subscription {
    const amount = amountOf(wanted.price) * wanted.quantity
    const createdAt = now()
    const trial = wanted.trialDays ? new Date(createdAt.getTime() + wanted.trialDays * DAY) : null
    const { customerId, operation, name, price, quantity } = wanted
    const made: Subscription = {
      id: ledger.nextId('subscription'),
      ...{ customerId, operation, name, price, quantity, createdAt },
      trialEndsAt: trial,
      paidUntil: trial ?? new Date(createdAt.getTime() + 30 * DAY),
      cancelsAt: null,
      endedAt: null,
    }
    ledger.subscriptions.set(made.id, made)
    if (!trial) {
      ledger.sales.push({
        id: ledger.nextId('sale'),
        customerId,
        key: null,
        description: price,
        amount: { amount, currency: 'usd' },
        date: createdAt,
        subscriptionId: made.id,
      })
    }
    return made
  }

  return {
    async createSubscription(wanted) {
      const all = ledger.subscriptionsOf(wanted.customerId)
      const before = all.find(({ operation }) => operation === wanted.operation)
      return describe(before ?? create(wanted))
    },
    async findSubscription(id) {
      const found = ledger.subscriptions.get(id)
      return found ? describe(found) : null
    },
    async findByOperation({ id }, customerId) {
      const all = ledger.subscriptionsOf(customerId)
      const found = all.find(({ operation }) => operation === id)
      return found ? describe(found) : null
    },
    listSubscriptions: async (customerId) => ledger.subscriptionsOf(customerId).map(describe),
    findCustomerId: async ({ customerId }) => customerId,
    requirePaid: async () => undefined,
    findDiscounts: async () => [],
    async findTerms({ id }) {
      const { createdAt, trialEndsAt, customerId } = require(id)
      const { card = null } = ledger.customers.get(customerId) ?? {}
      return {
        coupon: null,
        discounts: [],
        included: [],
        trialDays: trialEndsAt && (trialEndsAt.getTime() - createdAt.getTime()) / DAY,
        method: card === null ? null : describeCard(card),
      }
    },
    async swap(id, { price }) {
      amountOf(price)
      require(id).price = price
    },
    previewSwap: async (id, wanted, at) => {
      const difference = Math.max(0, amountOf(wanted.price) - amountOf(require(id).price))
      return preview(wanted, difference, at)
    },
    setTax: async () => undefined,
    async cancelAtPeriodEnd(id) {
      const found = require(id)
      found.cancelsAt = found.paidUntil
    },
    async cancelNow(id) {
      const found = ledger.subscriptions.get(id)
      if (found) found.endedAt ??= now()
    },
    async resume(id) {
      require(id).cancelsAt = null
    },
    quantities: {
      async set(id, quantity) {
        require(id).quantity = quantity
      },
    },
  }
}

function preview({ price }: SwapRequest, cents: number, at: Date): SwapPreview {
  const amount = { amount: cents, currency: 'usd' }
  const nothing = { amount: 0, currency: 'usd' }
  return {
    immediately: true,
    date: at,
    total: amount,
    credit: nothing,
    lines: [{ kind: 'proration', description: `The difference to ${price}`, amount }],
    includedTax: nothing,
    prorationDate: at,
  }
}

function describe(subscription: Subscription): ProviderSubscription {
  const { id, customerId, price, quantity, name, operation, createdAt } = subscription
  const { trialEndsAt, paidUntil, cancelsAt, endedAt } = subscription
  return {
    ...{ id, customerId, price, quantity, name, operation, createdAt, trialEndsAt, paidUntil },
    status: endedAt ? 'over' : 'running',
    isOver: endedAt !== null,
    endsAt: endedAt ?? cancelsAt,
    periodEndsAt: paidUntil,
    nameDigest: null,
    taxedPrice: null,
    lastChargeAt: null,
    endReason: endedAt ? 'cancelled' : null,
    raw: subscription,
  }
}
