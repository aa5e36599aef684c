import type braintree from 'braintree'
import { isBillingError } from '../../../error-codes.ts'
import { RefundNotPossibleYet, RefundRefused } from '../../../errors.ts'
import { REFUND_REASONS, type Refund, type RefundReason } from '../../../invoices/refund.ts'
import { fromDecimal, type Money, money, toDecimal } from '../../../values/money.ts'
import type { NewRefund } from '../../contract/parts/money/refunds.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { codesOf, isNotFound, requireSuccess } from '../sdk/errors.ts'
import { namesOfKey, orderOfKey, requestKeyOf } from './order-key.ts'
import { hasFailed } from './paid/returned.ts'
import { wayBack } from './way-back.ts'

type Sale = braintree.Transaction

/** It was settled meanwhile, so it can no longer be taken back but only be refunded. */
const NO_LONGER_VOIDABLE = '91504'

/** It is not settled; not every processor gives back what is still settling. */
const NOT_SETTLED = ['91506', '91574']

/** @param creditedOf Returns how much of a sale was credited by swaps or lost in disputes. */
export function braintreeRefunds(
  context: BraintreeContext,
  creditedOf: (sale: Sale) => Promise<Money>,
): Pick<GatewayParts, 'refunds'> {
  return {
    refunds: {
      async find(id, customerId) {
        const sale = await findSale(context, id)
        if (!sale || sale.customer?.id !== customerId) return null
        const way = wayBack(sale)
        if (way === 'none') return null
        const amount = amountOf(sale)
        const refunds = await refundsOf(context, sale)
        const refunded = refunds.reduce((sum, each) => sum + counted(each), 0)
        return {
          charge: sale.id,
          amount,
          refunded: money(refunded, amount.currency),
          isRefundableInPart: way === 'refund',
          raw: sale,
        }
      },
      creditedOf: ({ raw }) => creditedOf(raw as Sale),
      async list(charge) {
        const sale = await context.gateway.transaction.find(charge)
        return refundsOf(context, sale)
      },
      async findByKey(charge, key) {
        const sale = await context.gateway.transaction.find(charge)
        return doneOf(await attemptsOf(context, sale, key))
      },
      create: (refund) => create(context, refund),
    },
  }
}

async function findSale({ gateway }: BraintreeContext, id: string): Promise<Sale | null> {
  try {
    const found = await gateway.transaction.find(id)
    return found.type === 'sale' ? found : null
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** Newest first. */
async function refundsOf(context: BraintreeContext, sale: Sale): Promise<Refund[]> {
  if (wayBack(sale) === 'done') return [describeVoided(sale)]
  const found = await Promise.all(
    (sale.refundIds ?? []).map((id) => context.gateway.transaction.find(id)),
  )
  // Braintree lists the oldest first, and knows no less than a second.
  return found
    .reverse()
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
    .map((refund) => describeRefund(refund, sale))
}

/** What was made under a key, declined or not. */
async function attemptsOf(context: BraintreeContext, sale: Sale, key: string): Promise<Refund[]> {
  const all = await refundsOf(context, sale)
  const names = namesOfKey(key)
  return all.filter(({ raw }) => names.includes(readOrder((raw as Sale).orderId)?.key ?? ''))
}

function doneOf(attempts: readonly Refund[]): Refund | null {
  return attempts.find(({ status }) => status !== 'failed') ?? null
}

function counted({ amount, status }: Refund): number {
  return status === 'failed' ? 0 : amount.amount
}

async function create(context: BraintreeContext, refund: NewRefund): Promise<Refund> {
  const sale = await context.gateway.transaction.find(refund.charge)
  const { reason } = refund
  const way = wayBack(sale)
  if (way === 'done') return describeVoided(sale, reason)
  if (way === 'refund') return giveBack(context, sale, refund)
  if (way !== 'void' || !isWhole(sale, refund)) throw notYet(sale)
  const result = await context.gateway.transaction.void(sale.id)
  if (result.success) return describeVoided(result.transaction, reason)
  const now = await context.gateway.transaction.find(refund.charge)
  if (wayBack(now) === 'done') return describeVoided(now, reason)
  const hasMoved = codesOf(result).includes(NO_LONGER_VOIDABLE) && now.status !== sale.status
  if (!hasMoved) throw refusalOf(() => requireSuccess(result))
  if (wayBack(now) === 'refund') return giveBack(context, now, refund)
  throw notYet(now)
}

async function giveBack(
  context: BraintreeContext,
  sale: Sale,
  { amount, reason, key }: NewRefund,
): Promise<Refund> {
  const before = await attemptsOf(context, sale, key)
  const done = doneOf(before)
  if (done) return done
  const request = {
    ...(amount === null ? {} : { amount: toDecimal(amount) }),
    orderId: orderOf(key, reason),
    apiRequestKey: requestKeyOf(key, before.length, 'refund:'),
  }
  // The types know the amount alone.
  const gateway = context.gateway.transaction as unknown as {
    refund(id: string, request: object): Promise<braintree.ValidatedResponse<Sale>>
  }
  const result = await gateway.refund(sale.id, request)
  if (!result.success) {
    await refuseUnsettled(context, sale.id, codesOf(result))
    throw refusalOf(() => requireSuccess(result))
  }
  return describeRefund(result.transaction, sale)
}

/** Where the sale now stands decides: what was declined at settlement will never be settled. */
async function refuseUnsettled(
  { gateway }: BraintreeContext,
  id: string,
  codes: readonly string[],
): Promise<void> {
  if (!codes.some((code) => NOT_SETTLED.includes(code))) return
  const now = await gateway.transaction.find(id)
  if (wayBack(now) !== 'none') throw notYet(now)
}

/**
 * Under which order a refund is found again, with its reason, for which Braintree has no field: `refund:key`, or
 * `refund/duplicate:key`. Not the key itself: that may be the order of the sale, which Braintree gives to refunds of the
 * control panel.
 */
function orderOf(key: string, reason: RefundReason | null): string {
  return orderOfKey(key, reason === null ? 'refund:' : `refund/${reason}:`)
}

/** Null for an order that is not of our making. */
function readOrder(
  order: string | null | undefined,
): { readonly key: string; readonly reason: RefundReason | null } | null {
  const [, word, key] = /^refund(?:\/(\w+))?:(.*)$/s.exec(order ?? '') ?? []
  const reason = REFUND_REASONS.find((each) => each === word) ?? null
  return key === undefined || (word !== undefined && reason === null) ? null : { key, reason }
}

function isWhole(sale: Sale, { amount }: NewRefund): boolean {
  return amount === null || amount.amount === amountOf(sale).amount
}

function notYet(sale: Sale): RefundNotPossibleYet {
  const message =
    wayBack(sale) === 'void'
      ? 'The charge is not settled: all of it can go back now, a part once it is settled'
      : 'The charge is being settled: nothing can go back until then'
  return new RefundNotPossibleYet(message, { provider: 'braintree', providerCode: sale.status })
}

/** No money moved where Braintree or the bank says no. */
function refusalOf(ask: () => unknown): unknown {
  try {
    ask()
  } catch (error) {
    const isRefused =
      isBillingError(error, 'provider_rejected') || isBillingError(error, 'payment_failed')
    if (!isRefused) return error
    const { message, provider, providerCode } = error
    return new RefundRefused(message, { provider, providerCode, cause: error })
  }
  return new Error('It was not refused')
}

function amountOf({ amount, currencyIsoCode }: Sale): Money {
  return fromDecimal(amount, currencyIsoCode.toLowerCase())
}

function describeRefund(refund: Sale, sale: Sale): Refund {
  return {
    id: refund.id,
    charge: sale.id,
    amount: amountOf(refund),
    status: hasFailed(refund) ? 'failed' : refund.status === 'settled' ? 'succeeded' : 'pending',
    reason: readOrder(refund.orderId)?.reason ?? null,
    raw: refund,
  }
}

/** There is no transaction of its own that could keep the reason. */
function describeVoided(sale: Sale, reason: RefundReason | null = null): Refund {
  return {
    id: sale.id,
    charge: sale.id,
    amount: amountOf(sale),
    status: 'voided',
    reason,
    raw: sale,
  }
}
