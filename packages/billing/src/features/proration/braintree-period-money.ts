import type braintree from 'braintree'
import type { PaidTime } from '../../core/values/money-back.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { type CalendarDay, toCalendarDay } from '../../providers/braintree/days.ts'
import {
  getModificationAmount as amountOfEach,
  appliesInCycle,
  computeCyclePrice,
  computeUnusedPeriodValue,
  findReservedCredit,
  getBalanceWithoutDebt,
} from '../../providers/braintree/plan-credit.ts'
import { listCustomerSales as salesOfCustomer } from '../invoices/braintree.ts'
import { getSaleAmount, readReturnedAmount, wasSaleAccepted } from './braintree-returned.ts'

type Subscription = braintree.Subscription
type Sale = braintree.Transaction

/**
 * Returns the sales of a billing period that the bank accepted, oldest first. `start` is the first
 * day of the period.
 */
export function listPeriodSales(
  { transactions = [] }: Subscription,
  start: CalendarDay | null,
): Sale[] {
  return transactions
    .filter((sale) => wasSaleAccepted(sale) && findSalePeriodStart(sale) === start)
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
}

/**
 * Returns the first day of the billing period that a sale pays for. `null` for a sale without a
 * subscription.
 */
export function findSalePeriodStart({ subscription }: Sale): CalendarDay | null {
  const { billingPeriodStartDate: start } = (subscription ?? {}) as {
    readonly billingPeriodStartDate?: CalendarDay | null
  }
  return start ?? null
}

export function addUpSales(sales: readonly Sale[]): number {
  return sales.reduce((sum, sale) => sum + getSaleAmount(sale), 0)
}

export async function readReturnedSum(
  context: BraintreeContext,
  sales: readonly Sale[],
): Promise<number> {
  const all = await Promise.all(sales.map((sale) => readReturnedAmount(context, sale)))
  return all.reduce((sum, each) => sum + each, 0)
}

/**
 * Reads how much was charged for the subscription's current or last billing period, and how much of
 * that money was returned.
 */
export async function readPeriodMoney(
  context: BraintreeContext,
  subscription: Subscription,
): Promise<PaidTime> {
  const sales = listPeriodSales(subscription, subscription.billingPeriodStartDate ?? null)
  const returned = await readReturnedSum(context, sales)
  return { sold: computePaidInPeriod(context, subscription, sales), withheld: 0, returned }
}

/**
 * Reads how much of the money for the current billing period was returned, so that a swap does not
 * credit it. `null` if none was. If credit has paid for a part of the period, the sales behind that
 * credit count too, because their money may have been returned after it was credited.
 */
export async function readReturnedPeriodMoney(
  context: BraintreeContext,
  subscription: Subscription,
  today: CalendarDay,
): Promise<PaidTime | null> {
  const { currency, planCredit } = context
  const period = await readPeriodMoney(context, subscription)
  const sales = listPeriodSales(subscription, subscription.billingPeriodStartDate ?? null)
  const isCharged = addUpSales(sales) >= computeCyclePrice(subscription, context)
  if (isCharged) return period.returned > 0 ? period : null
  const unused = computeUnusedPeriodValue(subscription, { today, currency, planCredit })
  const sold = Math.max(period.sold, unused)
  const customerId = await findTokenCustomer(context, subscription.paymentMethodToken)
  const kept = await readKeptMoney(context, subscription, customerId)
  const returned = Math.max(period.returned, sold - kept)
  return returned > 0 ? { ...period, sold, returned } : null
}

async function findTokenCustomer(
  { gateway }: BraintreeContext,
  token: string,
): Promise<string | null> {
  const { customerId } = (await gateway.paymentMethod.find(token)) as {
    readonly customerId?: string
  }
  return customerId ?? null
}

/**
 * Reads how much money of the customer's subscription payments the merchant still has: all
 * payments, less the returned money and the unused credit.
 */
export async function readKeptMoney(
  context: BraintreeContext,
  subscription: Subscription,
  customerId: string | null,
): Promise<number> {
  const all = customerId ? await salesOfCustomer(context, customerId) : []
  const sales = all.filter((sale) => sale.subscriptionId && wasSaleAccepted(sale))
  const credit =
    findReservedCredit(subscription, context) -
    getBalanceWithoutDebt(subscription, context.currency)
  return addUpSales(sales) - (await readReturnedSum(context, sales)) - credit
}

/**
 * Adds up the sales of a period and the earlier credit that paid for it, less the credit that a
 * cheaper plan left on the balance. Braintree keeps no record of credit that paid a part of a
 * renewal: if nothing has changed since, the price is used.
 */
function computePaidInPeriod(
  { currency, planCredit }: BraintreeContext,
  subscription: Subscription,
  sales: readonly Sale[],
): number {
  const { billingPeriodStartDate: start, currentBillingCycle: cycle, discounts = [] } = subscription
  const credit = Math.max(0, -getBalanceWithoutDebt(subscription, currency))
  const [first, ...others] = sales
  const isUnchanged = first && others.length === 0 && credit === 0 && isFirstDaySale(first, start)
  if (isUnchanged) return computeCyclePrice(subscription, { currency, planCredit })
  const carried = discounts
    .filter((each) => each.id === planCredit && appliesInCycle(each, cycle))
    .reduce((sum, each) => sum + amountOfEach(each, { currency }), 0)
  return Math.max(0, addUpSales(sales) + carried - credit)
}

function isFirstDaySale({ createdAt }: Sale, start: CalendarDay | null | undefined): boolean {
  return Boolean(start) && toCalendarDay(new Date(createdAt)) <= (start ?? '')
}
