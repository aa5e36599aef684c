import type braintree from 'braintree'

type Status = braintree.TransactionStatus

/**
 * The way in which the money of a Braintree sale can be returned. `refund`: by a refund. `void`: by
 * voiding the whole sale, which is not settled yet. `done`: the sale was voided already. `wait`:
 * only after the sale is settled. `none`: no money was taken.
 */
export type RefundAction = 'refund' | 'void' | 'done' | 'wait' | 'none'

/**
 * Actions by status. Cards are settled overnight. PayPal and other wallets are settling as soon as
 * they are submitted, and can be refunded from then on, also in part.
 */
const ACTIONS: Readonly<Record<Status, RefundAction>> = {
  authorizing: 'wait',
  authorized: 'void',
  submitted_for_settlement: 'void',
  settlement_pending: 'void',
  settlement_confirmed: 'wait',
  settling: 'refund',
  settled: 'refund',
  voided: 'done',
  authorization_expired: 'none',
  failed: 'none',
  gateway_rejected: 'none',
  processor_declined: 'none',
  settlement_declined: 'none',
}

/** Fields of a Braintree sale that decide how its money can be returned. */
export interface SaleState {
  readonly status: string
  readonly paymentInstrumentType: string
}

export function chooseRefundAction({ status, paymentInstrumentType }: SaleState): RefundAction {
  // Only other payment methods can be voided while the processor decides.
  if (status === 'settlement_pending' && paymentInstrumentType === 'credit_card') return 'wait'
  // With an unknown status, neither refund the sale nor treat it as failed.
  return isKnown(status) ? ACTIONS[status] : 'wait'
}

function isKnown(status: string): status is Status {
  return Object.hasOwn(ACTIONS, status)
}
