import type braintree from 'braintree'
import { fromDecimal } from '../../../../values/money.ts'
import { sumReturned } from '../../../../values/paid/money-back.ts'
import type { BraintreeContext } from '../../sdk/client.ts'
import { type DisputeFacts, standingOf } from '../disputes.ts'
import { wayBack } from '../way-back.ts'

type Sale = braintree.Transaction

/** States of a sale that was authorized and whose money never arrived. */
const NEVER_CAME: readonly string[] = ['settlement_declined', 'authorization_expired']

/** Whether the bank accepted a sale, also if its money went back later. */
export function wentThrough(sale: Sale): boolean {
  return sale.type === 'sale' && (wayBack(sale) !== 'none' || NEVER_CAME.includes(sale.status))
}

/** Adds up how much of a sale went back, in the currency's smallest unit: refunded, disputed, voided or never settled. */
export async function returnedOf({ gateway }: BraintreeContext, sale: Sale): Promise<number> {
  const amount = amountOf(sale)
  if (wayBack(sale) === 'done' || NEVER_CAME.includes(sale.status)) return amount
  const refunds = await Promise.all(
    (sale.refundIds ?? []).map((id) => gateway.transaction.find(id)),
  )
  const returned = sumReturned({
    refunds: refunds.map((refund) => ({ amount: amountOf(refund), hasFailed: hasFailed(refund) })),
    disputes: disputesOf(sale).map((dispute) => ({
      amount: fromDecimal(dispute.amountDisputed, dispute.currencyIsoCode).amount,
      status: standingOf(dispute),
    })),
    creditNotes: [],
  })
  return Math.min(amount, returned)
}

/** Whether a refund moved no money. Refunds have the same states as sales. */
export function hasFailed(refund: Sale): boolean {
  return ['none', 'done'].includes(wayBack(refund))
}

export function amountOf({ amount, currencyIsoCode }: Sale): number {
  return fromDecimal(amount, currencyIsoCode.toLowerCase()).amount
}

/** Reads the disputes of a sale, which the typings of the SDK leave out. */
function disputesOf(sale: Sale): readonly DisputeFacts[] {
  return (sale as { readonly disputes?: readonly DisputeFacts[] }).disputes ?? []
}
