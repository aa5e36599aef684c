import type { Database } from '@tollgate/database'
import type { ProviderName } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'

/** A subscription as the provider has it or as our row tells it: two readings that share no code. */
export interface Told {
  readonly id: string
  readonly plan: string
  readonly status: string
  readonly quantity: number
  readonly trialEndsAt: string | null
  readonly endsAt: string | null
}

export interface ToldUser {
  readonly customer: string | null
  readonly card: string | null
  readonly subscriptions: readonly Told[]
}

type Sandbox = BillingTest['sandbox']

/** What the provider itself says, from its own objects behind the counter. */
export function truthAt(sandbox: Sandbox, provider: ProviderName, customer: string): ToldUser {
  const { card, subscriptions } = readers[provider](sandbox, customer)
  return { customer, card, subscriptions: byId(subscriptions) }
}

/** What our tables say of the user, read with plain SQL. */
export async function rowsOf(database: Database, userId: string | number): Promise<ToldUser> {
  const { kysely } = database
  const user = await kysely
    .selectFrom('users')
    .selectAll()
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const rows = await kysely
    .selectFrom('subscriptions')
    .selectAll()
    .where('user_id', '=', userId)
    .execute()
  const subscriptions = rows.map((row) => ({
    id: row.provider_id,
    plan: row.provider_plan,
    status: row.provider_status,
    quantity: Number(row.quantity),
    trialEndsAt: instant(row.trial_ends_at),
    endsAt: instant(row.ends_at),
  }))
  const card = user.card_brand === null ? null : `${user.card_brand} ${user.card_last_four}`
  return { customer: user.provider_id, card, subscriptions: byId(subscriptions) }
}

/** Whether the provider still counts the customer as subscribed. */
export function isServed({ subscriptions }: ToldUser): boolean {
  const served = ['active', 'trialing', 'past_due', 'Active', 'Past Due']
  return subscriptions.some(({ status }) => served.includes(status))
}

interface StripeSubscription {
  id: string
  status: string
  trial_end: number | null
  ended_at: number | null
  cancel_at: number | null
  cancel_at_period_end: boolean
  items: {
    data: { price: { id: string }; quantity: number; current_period_end: number }[]
  }
}

type Reader = (
  sandbox: Sandbox,
  customer: string,
) => { card: string | null; subscriptions: readonly Told[] }

const readers: Record<ProviderName, Reader> = {
  stripe({ stripe }, customer) {
    const found = stripe.subscriptions(customer) as unknown as StripeSubscription[]
    const seconds = (at: number | null) => (at === null ? null : instant(at * 1000))
    const subscriptions = found.map((each) => {
      const [item] = each.items.data
      const scheduled =
        each.cancel_at ?? (each.cancel_at_period_end ? (item?.current_period_end ?? null) : null)
      return {
        id: each.id,
        plan: item?.price.id ?? '',
        status: each.status,
        quantity: item?.quantity ?? 0,
        trialEndsAt: seconds(each.trial_end),
        endsAt: seconds(each.ended_at ?? scheduled),
      }
    })
    return { card: stripeCard(stripe, customer), subscriptions }
  },

  braintree({ braintree }, customer) {
    const subscriptions = braintree.subscriptions(customer).map((each) => {
      const over = each.statusHistory.find(({ status }) => status === 'Canceled')
      const isLast =
        !each.neverExpires && each.currentBillingCycle >= (each.numberOfBillingCycles ?? 0)
      const paidTo = each.paidThrough ?? each.billingPeriodEnd
      const lastDay =
        each.status === 'Expired'
          ? paidTo
          : each.status === 'Active' && isLast
            ? each.billingPeriodEnd
            : null
      return {
        id: each.id,
        plan: each.planId,
        status: each.status,
        quantity: 1,
        trialEndsAt: each.trialPeriod ? `${each.firstBillingDate}T00:00:00.000Z` : null,
        endsAt: over ? instant(Math.floor(over.timestamp / 1000) * 1000) : midnightAfter(lastDay),
      }
    })
    const method = braintree.paymentMethods(customer).find(({ isDefault }) => isDefault)
    const instrument = method?.instrument
    const card =
      instrument?.kind === 'credit_card'
        ? `${instrument.card.cardType} ${instrument.card.last4}`
        : null
    return { card, subscriptions }
  },
}

function stripeCard(stripe: Sandbox['stripe'], customer: string): string | null {
  const found = stripe.customer(customer) as unknown as {
    invoice_settings: { default_payment_method: string | null }
  } | null
  const method = found?.invoice_settings.default_payment_method
  const paid = method ? stripe.paymentMethod(method) : null
  const card = (paid as unknown as { card?: { brand: string; last4: string } } | null)?.card
  return card ? `${card.brand} ${card.last4}` : null
}

function midnightAfter(day: string | null): string | null {
  if (day === null) return null
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return instant(Date.UTC(year, month - 1, date + 1))
}

function instant(at: unknown): string | null {
  return at === null || at === undefined ? null : new Date(Number(at)).toISOString()
}

function byId(subscriptions: readonly Told[]): Told[] {
  return [...subscriptions].sort((a, b) => (a.id < b.id ? -1 : 1))
}
