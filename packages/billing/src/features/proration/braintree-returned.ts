import type braintree from 'braintree'
import { fromDecimal } from '../../core/values/money.ts'
import { sumReturnedMoney } from '../../core/values/money-back.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { type DisputeFields, toDisputeStatus } from '../disputes/braintree.ts'
import { chooseRefundAction } from './braintree-refund-action.ts'

type Sale = braintree.Transaction

/** Statuses of a sale that was authorized, and whose money never arrived. */
const NEVER_SETTLED: readonly string[] = ['settlement_declined', 'authorization_expired']

/** Whether the bank accepted a Braintree sale, even if its money was returned later. */
export function wasSaleAccepted(sale: Sale): boolean {
  return (
    sale.type === 'sale' &&
    (chooseRefundAction(sale) !== 'none' || NEVER_SETTLED.includes(sale.status))
  )
}

/**
 * Reads how much of a Braintree sale's money the merchant does not have, in the currency's smallest
 * unit: because it was refunded, disputed, voided or never settled.
 */
export async function readReturnedAmount(
  { gateway }: BraintreeContext,
  sale: Sale,
): Promise<number> {
  const amount = getSaleAmount(sale)
  if (chooseRefundAction(sale) === 'done' || NEVER_SETTLED.includes(sale.status)) return amount
  const refunds = await Promise.all(
    (sale.refundIds ?? []).map((id) => gateway.transaction.find(id)),
  )
  const returned = sumReturnedMoney({
    refunds: refunds.map((refund) => ({
      amount: getSaleAmount(refund),
      hasFailed: isFailedRefund(refund),
    })),
    disputes: listSaleDisputes(sale).map((dispute) => ({
      amount: fromDecimal(dispute.amountDisputed, dispute.currencyIsoCode).amount,
      status: toDisputeStatus(dispute),
    })),
    creditNotes: [],
  })
  return Math.min(amount, returned)
}

/** Whether a Braintree refund has failed, so that no money was returned. */
export function isFailedRefund(refund: Sale): boolean {
  return ['none', 'done'].includes(chooseRefundAction(refund))
}

export function getSaleAmount({ amount, currencyIsoCode }: Sale): number {
  return fromDecimal(amount, currencyIsoCode.toLowerCase()).amount
}

/** Reads the disputes of a sale, which the typings of the SDK leave out. */
function listSaleDisputes(sale: Sale): readonly DisputeFields[] {
  return (sale as { readonly disputes?: readonly DisputeFields[] }).disputes ?? []
}
