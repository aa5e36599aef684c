import type braintree from 'braintree'

type Status = braintree.TransactionStatus

/**
 * How the money of a sale goes back: given back, taken back as a whole before it moves, gone back already, not until it
 * has arrived, or not at all because none was taken.
 */
export type WayBack = 'refund' | 'void' | 'done' | 'wait' | 'none'

/**
 * By where a sale stands. A card's waits for the night to be settled; PayPal's and other wallets' is settling as soon as
 * it is submitted, and can be given back, also in part, from then on.
 */
const WAYS: Readonly<Record<Status, WayBack>> = {
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

/** What is known of a sale to decide. */
export interface Standing {
  readonly status: string
  readonly paymentInstrumentType: string
}

export function wayBack({ status, paymentInstrumentType }: Standing): WayBack {
  // Only what is not a card can be voided while the processor makes up its mind.
  if (status === 'settlement_pending' && paymentInstrumentType === 'credit_card') return 'wait'
  // Of a state that we do not know nothing is given back, and nothing is taken for failed.
  return isKnown(status) ? WAYS[status] : 'wait'
}

function isKnown(status: string): status is Status {
  return Object.hasOwn(WAYS, status)
}
