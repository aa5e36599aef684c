import type braintree from 'braintree'
import { isBillingError } from '../../core/errors/error-codes.ts'
import { RefundNotPossibleYet, RefundRefused } from '../../core/errors/errors.ts'
import { fromDecimal, type Money, money, toDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { listErrorCodes, nullIfMissing, requireSuccess } from '../../providers/braintree/errors.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import {
  buildBraintreeIdempotencyKey,
  buildOrderId,
  listPossibleOrderKeys,
} from '../payments/braintree-order-key.ts'
import { chooseRefundAction } from '../proration/braintree-refund-action.ts'
import { isFailedRefund } from '../proration/braintree-returned.ts'
import type { NewRefund } from './contract.ts'
import { REFUND_REASONS, type Refund, type RefundReason } from './refund.ts'

type Sale = braintree.Transaction

/** The transaction was settled in the meantime, so it can only be refunded, not voided. */
const NO_LONGER_VOIDABLE = '91504'

/**
 * The transaction is not settled. Some processors do not refund a transaction that is still
 * settling.
 */
const NOT_SETTLED = ['91506', '91574']

/**
 * Implements refunds for Braintree. A sale that is not settled yet is voided instead.
 * @param creditedOf Returns how much of a sale was credited by swaps or lost in disputes.
 */
export function createBraintreeRefunds(
  context: BraintreeContext,
  creditedOf: (sale: Sale) => Promise<Money>,
): Pick<GatewayParts, 'refunds'> {
  return {
    refunds: {
      async find(id, customerId) {
        const sale = await findSale(context, id)
        if (!sale || sale.customer?.id !== customerId) return null
        const way = chooseRefundAction(sale)
        if (way === 'none') return null
        const amount = amountOf(sale)
        const refunds = await refundsOf(context, sale)
        const refunded = refunds.reduce((sum, each) => sum + getSuccessfulAmount(each), 0)
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
        return findSuccessful(await listRefundAttempts(context, sale, key))
      },
      create: (refund) => create(context, refund),
    },
  }
}

async function findSale({ gateway }: BraintreeContext, id: string): Promise<Sale | null> {
  return nullIfMissing(async () => {
    const found = await gateway.transaction.find(id)
    return found.type === 'sale' ? found : null
  })
}

/** Lists the refunds of a sale, newest first. */
async function refundsOf(context: BraintreeContext, sale: Sale): Promise<Refund[]> {
  if (chooseRefundAction(sale) === 'done') return [describeVoided(sale)]
  const found = await Promise.all(
    (sale.refundIds ?? []).map((id) => context.gateway.transaction.find(id)),
  )
  // Braintree lists the oldest first, and its timestamps have a resolution of one second.
  return found
    .reverse()
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
    .map((refund) => describeRefund(refund, sale))
}

/** Lists the refunds that were requested with this key, including declined ones. */
async function listRefundAttempts(
  context: BraintreeContext,
  sale: Sale,
  key: string,
): Promise<Refund[]> {
  const all = await refundsOf(context, sale)
  const keys = listPossibleOrderKeys(key)
  return all.filter(({ raw }) =>
    keys.includes(parseRefundOrderId((raw as Sale).orderId)?.key ?? ''),
  )
}

function findSuccessful(attempts: readonly Refund[]): Refund | null {
  return attempts.find(({ status }) => status !== 'failed') ?? null
}

function getSuccessfulAmount({ amount, status }: Refund): number {
  return status === 'failed' ? 0 : amount.amount
}

async function create(context: BraintreeContext, refund: NewRefund): Promise<Refund> {
  const sale = await context.gateway.transaction.find(refund.charge)
  const { reason } = refund
  const way = chooseRefundAction(sale)
  if (way === 'done') return describeVoided(sale, reason)
  if (way === 'refund') return refundSale(context, sale, refund)
  if (way !== 'void' || !isWhole(sale, refund)) throw refundNotPossibleYet(sale)
  const result = await context.gateway.transaction.void(sale.id)
  if (result.success) return describeVoided(result.transaction, reason)
  const now = await context.gateway.transaction.find(refund.charge)
  if (chooseRefundAction(now) === 'done') return describeVoided(now, reason)
  const hasMoved = listErrorCodes(result).includes(NO_LONGER_VOIDABLE) && now.status !== sale.status
  if (!hasMoved) throw toRefundError(() => requireSuccess(result))
  if (chooseRefundAction(now) === 'refund') return refundSale(context, now, refund)
  throw refundNotPossibleYet(now)
}

async function refundSale(
  context: BraintreeContext,
  sale: Sale,
  { amount, reason, key }: NewRefund,
): Promise<Refund> {
  const before = await listRefundAttempts(context, sale, key)
  const done = findSuccessful(before)
  if (done) return done
  const request = {
    ...(amount === null ? {} : { amount: toDecimal(amount) }),
    orderId: buildRefundOrderId(key, reason),
    apiRequestKey: buildBraintreeIdempotencyKey(key, before.length, 'refund:'),
  }
  const result = await context.gateway.transaction.refund(sale.id, request)
  if (!result.success) {
    await throwIfUnsettled(context, sale.id, listErrorCodes(result))
    throw toRefundError(() => requireSuccess(result))
  }
  return describeRefund(result.transaction, sale)
}

/**
 * Throws RefundNotPossibleYet if the sale can still be settled. A sale that was declined at
 * settlement never will be.
 */
async function throwIfUnsettled(
  { gateway }: BraintreeContext,
  id: string,
  codes: readonly string[],
): Promise<void> {
  if (!codes.some((code) => NOT_SETTLED.includes(code))) return
  const now = await gateway.transaction.find(id)
  if (chooseRefundAction(now) !== 'none') throw refundNotPossibleYet(now)
}

/**
 * Returns the order id of a refund, from which its key and reason are read back, because Braintree
 * has no field for a reason: `refund:key` or `refund/duplicate:key`. The key alone would be
 * ambiguous: the sale may have the same order id, and Braintree copies it to refunds that are made
 * in the control panel.
 */
function buildRefundOrderId(key: string, reason: RefundReason | null): string {
  return buildOrderId(key, reason === null ? 'refund:' : `refund/${reason}:`)
}

/** Reads key and reason from an order id. `null` if `buildRefundOrderId()` did not make it. */
function parseRefundOrderId(
  order: string | null | undefined,
): { readonly key: string; readonly reason: RefundReason | null } | null {
  const [, word, key] = /^refund(?:\/(\w+))?:(.*)$/s.exec(order ?? '') ?? []
  const reason = REFUND_REASONS.find((each) => each === word) ?? null
  return key === undefined || (word !== undefined && reason === null) ? null : { key, reason }
}

function isWhole(sale: Sale, { amount }: NewRefund): boolean {
  return amount === null || amount.amount === amountOf(sale).amount
}

function refundNotPossibleYet(sale: Sale): RefundNotPossibleYet {
  const message =
    chooseRefundAction(sale) === 'void'
      ? 'The charge is not settled yet: refund all of it now, or a part once it is settled'
      : 'The charge is being settled: refund it once it is settled'
  return new RefundNotPossibleYet(message, { provider: 'braintree', providerCode: sale.status })
}

/**
 * Turns a rejection by Braintree or the bank, after which no money has moved, into RefundRefused.
 */
function toRefundError(ask: () => unknown): unknown {
  try {
    ask()
  } catch (error) {
    const isRefused =
      isBillingError(error, 'provider_rejected') || isBillingError(error, 'payment_failed')
    if (!isRefused) return error
    const { message, provider, providerCode } = error
    return new RefundRefused(message, { provider, providerCode, cause: error })
  }
  return new Error('The provider did not refuse the refund')
}

function amountOf({ amount, currencyIsoCode }: Sale): Money {
  return fromDecimal(amount, currencyIsoCode.toLowerCase())
}

function describeRefund(refund: Sale, sale: Sale): Refund {
  return {
    id: refund.id,
    charge: sale.id,
    amount: amountOf(refund),
    status: isFailedRefund(refund)
      ? 'failed'
      : refund.status === 'settled'
        ? 'succeeded'
        : 'pending',
    reason: parseRefundOrderId(refund.orderId)?.reason ?? null,
    raw: refund,
  }
}

/**
 * Describes a voided charge as a refund. It has no transaction of its own that could store the
 * reason.
 */
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
