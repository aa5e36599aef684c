import type {
  ChargeRow,
  CheckoutSessionRow,
  PaymentIntentRow,
  PaymentMethodRow,
} from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { recordCharge } from '../balance-transactions.ts'
import { failIntent, newCharge } from '../payment-attempt.ts'
import { accountOf } from './test-accounts.ts'

/** What Stripe says of a debit that the bank sends back. */
const FAILED = {
  code: 'payment_intent_payment_attempt_failed',
  declineCode: null,
  message: 'The payment failed.',
  adviceCode: null,
} as const

/** The bank is asked; what it says comes later, and until then nobody has the money. */
export function beginDebit(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  intent: PaymentIntentRow,
  method: PaymentMethodRow,
): void {
  const charge: ChargeRow = {
    ...newCharge(work, intent, method, null),
    outcome: null,
    paid: false,
    payment_method_details: { type: 'sepa_debit', sepa_debit: detailsOf(method) },
    receipt_url: null,
    status: 'pending',
  }
  work.insert('charge', charge, 'charge.pending')
  work.edit('payment_intent', intent)
  intent.payment_method_types = ['sepa_debit']
  intent.status = 'processing'
  intent.latest_charge = charge.id
  work.emit('payment_intent.processing', 'payment_intent', intent)
  session.payment_status = 'unpaid'
  session.$.settlesAt = work.sandboxNow + (accountOf(method)?.seconds ?? 0)
}

type DebitDetails = NonNullable<NonNullable<ChargeRow['payment_method_details']>['sepa_debit']>

function detailsOf({ sepa_debit: account }: PaymentMethodRow): DebitDetails {
  return {
    bank_code: account?.bank_code ?? null,
    branch_code: account?.branch_code ?? null,
    country: account?.country ?? null,
    fingerprint: account?.fingerprint ?? null,
    last4: account?.last4 ?? null,
    mandate: null,
  }
}

/** What the bank says in the end. */
export function settleDebit(work: UnitOfWork, session: CheckoutSessionRow): void {
  work.edit('checkout.session', session)
  session.$.settlesAt = null
  const intent = work.require('payment_intent', String(session.payment_intent))
  // Somebody may have cancelled it meanwhile.
  if (intent.status !== 'processing') return
  const method = work.require('payment_method', String(intent.payment_method))
  const charge = work.edit('charge', work.require('charge', String(intent.latest_charge)))
  if (accountOf(method)?.pays) {
    succeed(work, intent, charge)
    session.payment_status = 'paid'
    work.emit('checkout.session.async_payment_succeeded', 'checkout.session', session)
    return
  }
  charge.status = 'failed'
  charge.amount_captured = 0
  charge.failure_code = FAILED.code
  charge.failure_message = FAILED.message
  work.emit('charge.failed', 'charge', charge)
  failIntent(work, intent, method, FAILED, charge.id)
  work.emit('checkout.session.async_payment_failed', 'checkout.session', session)
}

function succeed(work: UnitOfWork, intent: PaymentIntentRow, charge: ChargeRow): void {
  charge.status = 'succeeded'
  charge.paid = true
  charge.receipt_url = `${work.context.baseUrl}/pages/receipts/${charge.id}`
  recordCharge(work, charge)
  work.emit('charge.succeeded', 'charge', charge)
  work.edit('payment_intent', intent)
  intent.status = 'succeeded'
  intent.amount_received = intent.amount
  work.emit('payment_intent.succeeded', 'payment_intent', intent)
}
