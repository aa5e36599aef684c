import { expect } from 'vitest'
import type { BillableUser, Invoice } from '../../src/index.ts'
import { applyOurEndDates, isServed, readSandboxState, readTableState } from '../provider-truth.ts'
import { stripeSdk, sumChargedCents } from '../support.ts'
import { ORDER_PRICE_CENTS } from './money.ts'
import { disputesOf } from './outside.ts'
import { customerOf } from './step.ts'
import type { World } from './world.ts'

/** Compares our rows with the provider's own objects. */
export async function expectTruth(world: World, at: string): Promise<void> {
  const { sandbox, database, user, given, billing } = world
  const customers =
    given.provider === 'stripe' ? sandbox.stripe.customers() : sandbox.braintree.customers()
  expect(customers.length, at).toBeLessThanOrEqual(1)
  const told = await readTableState(database, user.id, user.owner.type)
  const atProvider = readSandboxState(sandbox, given.provider, customers[0]?.id ?? '')
  const now = sandbox.clock.now()
  const disputes = await readDisputes(world)
  const endsByDispute = world.access === 'end' && disputes.some(({ status }) => status === 'lost')
  const hasCancelledNow = world.hasCancelledNow || endsByDispute
  const truth = applyOurEndDates(atProvider, told, { now, hasCancelledNow })
  expect(told, at).toEqual({ ...truth, customer: customers[0]?.id ?? null })
  const suspended = disputes.filter(({ status }) => world.access === 'suspend' && status === 'open')
  const open = truth.subscriptions.filter(({ id }) => !suspended.some(({ of }) => of === id))
  const isOpen = isServed({ ...truth, subscriptions: open }, now)
  expect(await user.subscribed('main'), `subscribed, ${at}`).toBe(isOpen)
  // In every case, at most one subscription per name is charged.
  const over = ['canceled', 'Canceled', 'Expired', 'incomplete_expired']
  const live = truth.subscriptions.filter(({ status }) => !over.includes(status))
  expect(live.length, at).toBeLessThanOrEqual(1)
  expect(await billing.webhooks.deadLetters(), at).toEqual([])
  if (endsByDispute && world.travel === 'prompt') {
    const lost = disputes.filter(({ status }) => status === 'lost').map(({ of }) => of)
    const going = told.subscriptions.filter(({ id, endsAt }) => {
      const isOver = endsAt !== null && new Date(endsAt) <= now
      return lost.includes(id) && !isOver
    })
    expect(going, `lost, ${at}`).toEqual([])
  }
  const statuses = disputes.map(({ status }) => status)
  expect(statuses.sort(), `disputes, ${at}`).toEqual(disputesOf(world).sort())
}

/** Reads the disputes, each with the provider's id of the disputed subscription. */
async function readDisputes({ database }: World): Promise<{ status: string; of: string }[]> {
  const rows = await database.kysely
    .selectFrom('billing_disputes as disputes')
    .leftJoin('subscriptions as paid', 'paid.id', 'disputes.subscription_id')
    .select(['disputes.status', 'paid.provider_id'])
    .execute()
  return rows.map(({ status, provider_id: of }) => ({ status: String(status), of: String(of) }))
}

/**
 * Checks that reported usage was counted exactly once. Refused reports may or may not have been
 * counted.
 */
export async function expectUsage(world: World): Promise<void> {
  const { billing, database, used, given } = world
  const rows = await database.kysely.selectFrom('billing_usage').select('state').execute()
  expect(rows).toHaveLength(used)
  if (used === 0) return
  const sent = rows.filter(({ state }) => state === 'sent')
  clearSimulatedFailures(world)
  if (given.provider === 'stripe') {
    expect(await billing.usage.pending()).toEqual([])
    const counted = await countedCalls(world)
    expect(counted).toBeGreaterThanOrEqual(sent.length)
    expect(counted).toBeLessThanOrEqual(used)
    return
  }
  // Each unit costs five cents, six including tax; usage during a trial is free.
  expect(usageCharged(world)).toBeLessThanOrEqual(6 * used)
}

async function countedCalls(world: World): Promise<number> {
  const { sandbox } = world
  const { billing } = await stripeSdk(world)
  const [meter] = (await billing.meters.list()).data
  // The end of the current hour, which is after now even exactly on the hour.
  const hour = (Math.floor(sandbox.clock.nowMs() / 3_600_000) + 1) * 3600
  const { data } = await billing.meters.listEventSummaries(meter?.id ?? '', {
    customer: customerOf(world),
    start_time: hour - 10 * 365 * 86_400,
    end_time: hour,
  })
  return Number(data[0]?.aggregated_value)
}

const DECLINED = ['processor_declined', 'gateway_rejected', 'failed']

/** Lists the sales at Braintree that were not declined, including refunded ones. */
function salesOf(world: World) {
  return world.sandbox.braintree
    .transactions(customerOf(world))
    .filter(({ type, status }) => type === 'sale' && !DECLINED.includes(status))
}

function usageCharged(world: World): number {
  const ofUsage = salesOf(world).filter(({ orderId }) => orderId?.startsWith('usage:'))
  return sum(ofUsage.map(({ amount }) => amount))
}

/**
 * Checks that the charges and refunds at the provider equal those on the invoices, and that nothing
 * was paid twice.
 */
export async function expectMoney(world: World): Promise<void> {
  const { given, paid, billing, user } = world
  clearSimulatedFailures(world)
  const owner = await billing.owner(user.owner.type, user.id)
  if (owner.providerId === null) return
  const bills = await owner.invoicesIncludingPending()
  const isStripe = given.provider === 'stripe'
  const taken = sumChargedCents(world, owner)
  const billed = sum(bills.map(isStripe ? paidByCard : ({ data }) => data.total))
  // At Stripe, a charge has no invoice. One whose responses were all lost may or may not have been
  // made.
  const charges = isStripe
    ? (taken - billed) / ORDER_PRICE_CENTS
    : salesOf(world).filter(({ orderId }) => orderId?.startsWith('charge-')).length
  if (!isStripe) expect(billed, 'taken').toBe(taken)
  expect([paid.charge, paid.charge + 1], 'charges').toContain(charges)
  const orders = isStripe ? paidOrders(bills) : salesOf(world).map(({ orderId }) => orderId)
  for (const kind of ['charge', 'bill'] as const) {
    for (let number = 1; number <= paid[kind] && !(isStripe && kind === 'charge'); number++) {
      const key = `${kind}-${number}`
      expect(
        orders.filter((each) => each === key),
        key,
      ).toHaveLength(1)
    }
  }
  expect(await refundedOf(bills), 'given back').toBe(sumReturnedCents(world, owner))
  if (isStripe) expect((await owner.taxIds()).length).toBeLessThanOrEqual(1)
}

const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0)

function paidByCard({ data }: Invoice): number {
  return (data.raw as { readonly amount_paid: number }).amount_paid
}

function paidOrders(bills: readonly Invoice[]): (string | undefined)[] {
  const keyOf = ({ data }: Invoice) => /^Order (.+)/.exec(data.lines[0]?.description ?? '')?.[1]
  return bills.filter(({ data }) => data.paid).map(keyOf)
}

async function refundedOf(bills: readonly Invoice[]): Promise<number> {
  const refunded = await Promise.all(bills.map((bill) => bill.refunded()))
  return sum(refunded.map(({ amount }) => amount))
}

function sumReturnedCents({ sandbox }: World, owner: BillableUser): number {
  const customer = owner.providerId ?? ''
  return owner.provider === 'stripe'
    ? sum(sandbox.stripe.charges(customer).map((charge) => Number(charge.amount_refunded)))
    : sum(
        sandbox.braintree
          .transactions(customer)
          .filter(({ type, status }) => type === 'credit' && status !== 'voided')
          .map(({ amount }) => amount),
      )
}

/** Removes simulated provider failures that no call of the application has met. */
function clearSimulatedFailures({ sandbox, given }: World): void {
  while (sandbox.trouble.takeCallTrouble(given.provider)) {
    // It is taken, and harms nobody.
  }
}
