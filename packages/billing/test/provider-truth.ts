import type { Database } from '@tollgate/database'
import { addDays, addMonths, countDaysFrom } from '../src/features/swap/test/swap-value.ts'
import type { ProviderName } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'

/**
 * A subscription as the provider stores it, or as our row stores it: two readings that share no
 * code.
 */
export interface SubscriptionState {
  readonly id: string
  readonly plan: string
  readonly status: string
  readonly quantity: number
  /** Additional prices, such as `seat × 2`. */
  readonly others: readonly string[]
  readonly trialEndsAt: string | null
  readonly endsAt: string | null
  readonly isPaused: boolean
  /** The planned plan. */
  readonly planned: string | null
  readonly plannedAt: string | null
}

export interface CustomerState {
  readonly customer: string | null
  readonly card: string | null
  readonly subscriptions: readonly SubscriptionState[]
}

type Sandbox = BillingTest['sandbox']

/** Reads the state directly from the sandbox's objects. */
export function readSandboxState(
  sandbox: Sandbox,
  provider: ProviderName,
  customer: string,
): CustomerState {
  const { card, subscriptions } = readers[provider](sandbox, customer)
  return { customer, card, subscriptions: byId(subscriptions) }
}

/** Reads the state of a user or team from our tables, with plain SQL. */
export async function readTableState(
  database: Database,
  id: string | number,
  type = 'user',
): Promise<CustomerState> {
  const { kysely } = database
  const user = await kysely
    .selectFrom(type === 'user' ? 'users' : 'teams')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const found = kysely.selectFrom('subscriptions').selectAll()
  const rows = await (type === 'user'
    ? found.where('user_id', '=', id)
    : found.where('owner_type', '=', type).where('owner_id', '=', String(id))
  ).execute()
  const items = await kysely
    .selectFrom('billing_subscription_items')
    .selectAll()
    .where('subscription_id', 'in', [0, ...rows.map((row) => row.id)])
    .execute()
  const subscriptions = rows.map((row) => ({
    id: row.provider_id,
    plan: row.provider_plan,
    status: row.provider_status,
    quantity: Number(row.quantity),
    others: items
      .filter(({ subscription_id }) => Number(subscription_id) === Number(row.id))
      .map(({ provider_plan, quantity }) => formatItem(String(provider_plan), quantity))
      .sort(),
    trialEndsAt: instant(row.trial_ends_at),
    endsAt: instant(row.ends_at),
    isPaused: row.paused_at !== null,
    planned: row.planned_price,
    plannedAt: instant(row.planned_at),
  }))
  const card = user.card_brand === null ? null : `${user.card_brand} ${user.card_last_four}`
  return { customer: user.provider_id, card, subscriptions: byId(subscriptions) }
}

/**
 * Corrects the end of subscriptions that are over at Braintree but may still grant access. Only our
 * rows contain when that access ends: at `cancelNow()`, or when another subscription replaces this
 * one.
 */
export function applyOurEndDates(
  truth: CustomerState,
  rows: CustomerState,
  { now, hasCancelledNow }: { readonly now: Date; readonly hasCancelledNow: boolean },
): CustomerState {
  const mayEnd = hasCancelledNow || truth.subscriptions.length > 1
  const subscriptions = truth.subscriptions.map((each) => {
    const isOver = each.status === 'Canceled' || each.status === 'Expired'
    const ended = rows.subscriptions.find(({ id }) => id === each.id)?.endsAt ?? null
    if (!mayEnd || !isOver || ended === null || each.endsAt === null) return each
    return ended < each.endsAt && new Date(ended) <= now ? { ...each, endsAt: ended } : each
  })
  return { ...truth, subscriptions }
}

/**
 * Whether the customer has access: while the provider serves the subscription, and until the end of
 * the paid time.
 */
export function isServed({ subscriptions }: CustomerState, now: Date): boolean {
  const served = ['active', 'trialing', 'past_due', 'Active', 'Past Due']
  // A trial that was cancelled ends at Braintree immediately; we serve it to its end.
  const inGrace = ({ status, endsAt }: CustomerState['subscriptions'][number]) =>
    status === 'Canceled' && endsAt !== null && new Date(endsAt) > now
  return subscriptions.some((each) => served.includes(each.status) || inGrace(each))
}

interface StripeSubscription {
  id: string
  status: string
  trial_end: number | null
  ended_at: number | null
  cancel_at: number | null
  cancel_at_period_end: boolean
  metadata: { main?: string }
  schedule: string | null
  pause_collection: object | null
  items: {
    data: { price: { id: string }; quantity?: number; current_period_end: number }[]
  }
}

type Reader = (
  sandbox: Sandbox,
  customer: string,
) => { card: string | null; subscriptions: readonly SubscriptionState[] }

const readers: Record<ProviderName, Reader> = {
  stripe({ stripe }, customer) {
    const found = stripe.subscriptions(customer) as unknown as StripeSubscription[]
    const seconds = (at: number | null) => (at === null ? null : instant(at * 1000))
    const subscriptions = found.map((each) => {
      const { data } = each.items
      const item = data.find(({ price }) => price.id === each.metadata.main) ?? data[0]
      const scheduled =
        each.cancel_at ?? (each.cancel_at_period_end ? (item?.current_period_end ?? null) : null)
      return {
        id: each.id,
        plan: item?.price.id ?? '',
        status: each.status,
        quantity: item?.quantity ?? 0,
        others: data
          .filter((other) => other !== item)
          .map(({ price, quantity }) => formatItem(price.id, quantity))
          .sort(),
        trialEndsAt: seconds(each.trial_end),
        endsAt: seconds(each.ended_at ?? scheduled),
        isPaused: each.pause_collection !== null && each.ended_at === null,
        ...plannedAt(stripe, each),
      }
    })
    return { card: stripeCard(stripe, customer), subscriptions }
  },

  braintree({ braintree }, customer) {
    const subscriptions = braintree.subscriptions(customer).map((each) => {
      return {
        id: each.id,
        plan: each.planId,
        status: each.status,
        quantity: 1,
        others: each.addOns.map(({ id, quantity }) => `${id} × ${quantity}`).sort(),
        trialEndsAt: each.trialPeriod ? `${each.firstBillingDate}T00:00:00.000Z` : null,
        endsAt: braintreeEnd(each),
        isPaused: false,
        planned: null,
        plannedAt: null,
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

interface StripeSchedule {
  status: string
  current_phase: { end_date: number } | null
  phases: {
    start_date: number
    items: { price: string; quantity?: number }[]
    metadata: { main?: string } | null
  }[]
}

/** Returns the schedule's next phase, if it has other prices. */
function plannedAt(
  stripe: Sandbox['stripe'],
  { schedule: id, items, metadata }: StripeSubscription,
): Pick<SubscriptionState, 'planned' | 'plannedAt'> {
  const schedule = id === null ? null : (stripe.schedule(id) as unknown as StripeSchedule | null)
  const next =
    schedule?.status === 'active' &&
    schedule.phases.find((phase) => phase.start_date === schedule.current_phase?.end_date)
  if (!next) return { planned: null, plannedAt: null }
  const present = items.data.map(({ price, quantity }) => formatItem(price.id, quantity))
  const coming = next.items.map(({ price, quantity }) => formatItem(price, quantity))
  if (coming.sort().join() === present.sort().join()) {
    return { planned: null, plannedAt: null }
  }
  const main = next.metadata?.main ?? metadata.main
  const named = next.items.find(({ price }) => price === main) ?? next.items[0]
  return { planned: named?.price ?? null, plannedAt: instant(next.start_date * 1000) }
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

type BraintreeSubscription = ReturnType<Sandbox['braintree']['subscriptions']>[number]

/**
 * Computes when access ends: at the end of the trial if the subscription was cancelled during the
 * trial, immediately if it was cancelled later, otherwise when the credit is used up.
 */
function braintreeEnd(each: BraintreeSubscription): string | null {
  const over = each.statusHistory.find(({ status }) => status === 'Canceled')
  const hasOneCycle = !each.neverExpires && each.numberOfBillingCycles === 1
  if (over && each.trialPeriod && each.currentBillingCycle === 0 && hasOneCycle) {
    return `${each.firstBillingDate}T00:00:00.000Z`
  }
  if (over) return instant(Math.floor(over.timestamp / 1000) * 1000)
  if (each.neverExpires || each.billingPeriodEnd === null) return null
  const cycles =
    each.status === 'Expired' ? 0 : (each.numberOfBillingCycles ?? 0) - each.currentBillingCycle
  const price = each.addOns.reduce(
    (sum, { amount, quantity }) => sum + amount * quantity,
    each.price,
  )
  const rest = Math.max(0, -each.balance) - cycles * price
  if (cycles > 0 && rest < 0) return null
  const next = addDays(each.billingPeriodEnd, 1)
  const start = billedOn(next, cycles * each.billingFrequency, each.billingDayOfMonth)
  const end = billedOn(next, (cycles + 1) * each.billingFrequency, each.billingDayOfMonth)
  const days = Math.ceil((Math.max(0, rest) * countDaysFrom(start, end)) / price)
  return `${addDays(start, days)}T00:00:00.000Z`
}

/** Adds months, keeping the billing day or using the last day of the month. */
function billedOn(day: string, months: number, dayOfMonth: number): string {
  const first = addMonths(`${day.slice(0, 7)}-01`, months)
  const last = countDaysFrom(first, addMonths(first, 1))
  return addDays(first, Math.min(dayOfMonth, last) - 1)
}

/** Formats a price with its quantity. Metered prices have no quantity. */
function formatItem(price: string, quantity: unknown): string {
  return quantity === null || quantity === undefined ? price : `${price} × ${quantity}`
}

function instant(at: unknown): string | null {
  return at === null || at === undefined ? null : new Date(Number(at)).toISOString()
}

function byId(subscriptions: readonly SubscriptionState[]): SubscriptionState[] {
  return [...subscriptions].sort((a, b) => (a.id < b.id ? -1 : 1))
}
