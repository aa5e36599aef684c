import type braintree from 'braintree'
import type { PaidTime } from '../../core/values/money-back.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { type Day, dayOf } from '../../providers/braintree/days.ts'
import {
  amountOf as amountOfEach,
  appliesInCycle,
  balanceOf,
  cycleValue,
  unusedPeriod,
  waitingCredit,
} from '../../providers/braintree/plan-credit.ts'
import { salesOf as salesOfCustomer } from '../invoices/braintree.ts'
import { amountOf, returnedOf, wasAccepted } from './braintree-returned.ts'

type Subscription = braintree.Subscription
type Sale = braintree.Transaction

/** Returns the accepted sales of a period, oldest first. */
export function salesOf({ transactions = [] }: Subscription, start: Day | null): Sale[] {
  return transactions
    .filter((sale) => wasAccepted(sale) && periodOf(sale) === start)
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
}

/** Returns the first day of the period that a sale pays for. `null` if it has no subscription. */
export function periodOf({ subscription }: Sale): Day | null {
  const { billingPeriodStartDate: start } = (subscription ?? {}) as {
    readonly billingPeriodStartDate?: Day | null
  }
  return start ?? null
}

export function sumOf(sales: readonly Sale[]): number {
  return sales.reduce((sum, sale) => sum + amountOf(sale), 0)
}

export async function sumReturnedOf(
  context: BraintreeContext,
  sales: readonly Sale[],
): Promise<number> {
  const all = await Promise.all(sales.map((sale) => returnedOf(context, sale)))
  return all.reduce((sum, each) => sum + each, 0)
}

/** Reads the price of the running or last period, and how much of its money was returned. */
export async function readPeriod(
  context: BraintreeContext,
  subscription: Subscription,
): Promise<PaidTime> {
  const sales = salesOf(subscription, subscription.billingPeriodStartDate ?? null)
  const returned = await sumReturnedOf(context, sales)
  return { sold: paidInPeriod(context, subscription, sales), withheld: 0, returned }
}

/**
 * Reads the money for the running period before a swap. If credit has paid for a part of it, the
 * sales behind that credit must still be paid: their money may have been returned after it was
 * credited. `null` if none of the money was returned.
 */
export async function readUnpaid(
  context: BraintreeContext,
  subscription: Subscription,
  today: Day,
): Promise<PaidTime | null> {
  const { currency, planCredit } = context
  const period = await readPeriod(context, subscription)
  const sales = salesOf(subscription, subscription.billingPeriodStartDate ?? null)
  const isCharged = sumOf(sales) >= cycleValue(subscription, context)
  if (isCharged) return period.returned > 0 ? period : null
  const unused = unusedPeriod(subscription, { today, currency, planCredit })
  const sold = Math.max(period.sold, unused)
  const customerId = await customerOf(context, subscription.paymentMethodToken)
  const kept = await readKept(context, subscription, customerId)
  const returned = Math.max(period.returned, sold - kept)
  return returned > 0 ? { ...period, sold, returned } : null
}

async function customerOf({ gateway }: BraintreeContext, token: string): Promise<string | null> {
  const { customerId } = (await gateway.paymentMethod.find(token)) as {
    readonly customerId?: string
  }
  return customerId ?? null
}

/**
 * Reads how much the customer paid for subscriptions, less the money returned and the unused
 * credit.
 */
export async function readKept(
  context: BraintreeContext,
  subscription: Subscription,
  customerId: string | null,
): Promise<number> {
  const all = customerId ? await salesOfCustomer(context, customerId) : []
  const sales = all.filter((sale) => sale.subscriptionId && wasAccepted(sale))
  const credit = waitingCredit(subscription, context) - balanceOf(subscription, context.currency)
  return sumOf(sales) - (await sumReturnedOf(context, sales)) - credit
}

/**
 * Adds up the sales of a period and the earlier credit that paid for it, less the credit that a
 * cheaper plan left on the balance. Braintree keeps no record of credit that paid a part of a
 * renewal: if nothing has changed since, the price is used.
 */
function paidInPeriod(
  { currency, planCredit }: BraintreeContext,
  subscription: Subscription,
  sales: readonly Sale[],
): number {
  const { billingPeriodStartDate: start, currentBillingCycle: cycle, discounts = [] } = subscription
  const credit = Math.max(0, -balanceOf(subscription, currency))
  const [first, ...others] = sales
  const isUnchanged = first && others.length === 0 && credit === 0 && isOfFirstDay(first, start)
  if (isUnchanged) return cycleValue(subscription, { currency, planCredit })
  const carried = discounts
    .filter((each) => each.id === planCredit && appliesInCycle(each, cycle))
    .reduce((sum, each) => sum + amountOfEach(each, { currency }), 0)
  return Math.max(0, sumOf(sales) + carried - credit)
}

function isOfFirstDay({ createdAt }: Sale, start: Day | null | undefined): boolean {
  return Boolean(start) && dayOf(new Date(createdAt)) <= (start ?? '')
}
