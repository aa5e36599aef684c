import type { ChargeRow, PaymentIntentRow, PaymentMethodRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { recordCharge } from '../balance-transactions.ts'
import {
  attemptCardPayment,
  createChargeRow,
  failIntent,
  type PaymentOutcome,
} from '../payment-attempt.ts'
import { findMethodTestAccount, type TestAccount } from './test-accounts.ts'

/**
 * Charges the payment method of a payment intent once. Cards succeed or fail immediately, bank
 * debits later.
 */
export function attemptPayment(work: UnitOfWork, intent: PaymentIntentRow): PaymentOutcome {
  const method = work.require('payment_method', intent.payment_method ?? '', 'payment_method')
  const account = findMethodTestAccount(method)
  return account ? startDebit(work, intent, method, account) : attemptCardPayment(work, intent)
}

/** Starts a bank debit. The payment stays `processing` until the bank decides. */
function startDebit(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  method: PaymentMethodRow,
  { seconds }: TestAccount,
): PaymentOutcome {
  const charge: ChargeRow = {
    ...createChargeRow(work, intent, method, null),
    outcome: null,
    paid: false,
    payment_method_details: detailsOf(method),
    receipt_url: null,
    status: 'pending',
  }
  work.insert('charge', charge, 'charge.pending')
  work.edit('payment_intent', intent)
  intent.payment_method_types = [...new Set([...intent.payment_method_types, method.type])]
  intent.status = 'processing'
  intent.latest_charge = charge.id
  intent.last_payment_error = null
  intent.next_action = null
  work.emit('payment_intent.processing', 'payment_intent', intent)
  const { testClock } = work
  work.insert('bank_debit', {
    id: intent.id,
    object: 'bank_debit',
    customer: intent.customer,
    settlesAt: work.sandboxNow + seconds,
    onClock: testClock === null ? null : { clock: testClock, settlesAt: work.now + seconds },
  })
  return { status: 'processing' }
}

function detailsOf(method: PaymentMethodRow): ChargeRow['payment_method_details'] {
  const { sepa_debit: sepa, us_bank_account: us } = method
  if (us) {
    const { account_holder_type, account_type, bank_name, fingerprint, last4 } = us
    return {
      type: 'us_bank_account',
      us_bank_account: {
        account_holder_type,
        account_type,
        bank_name,
        fingerprint,
        last4,
        payment_reference: null,
        routing_number: us.routing_number,
      },
    }
  }
  return {
    type: 'sepa_debit',
    sepa_debit: {
      bank_code: sepa?.bank_code ?? null,
      branch_code: sepa?.branch_code ?? null,
      country: sepa?.country ?? null,
      fingerprint: sepa?.fingerprint ?? null,
      last4: sepa?.last4 ?? null,
      mandate: null,
    },
  }
}

/**
 * Applies the bank's decision on a debit. Returns `null` if the payment intent was canceled in the
 * meantime.
 */
export function settleDebit(work: UnitOfWork, intent: PaymentIntentRow): PaymentOutcome | null {
  work.remove('bank_debit', work.require('bank_debit', intent.id))
  if (intent.status !== 'processing') return null
  const method = work.require('payment_method', String(intent.payment_method))
  const charge = work.edit('charge', work.require('charge', String(intent.latest_charge)))
  const failure = findMethodTestAccount(method)?.failure ?? null
  if (!failure) {
    succeed(work, intent, charge)
    return { status: 'succeeded' }
  }
  const decline = { ...failure, declineCode: null, adviceCode: null }
  charge.status = 'failed'
  charge.amount_captured = 0
  charge.failure_code = failure.code
  charge.failure_message = failure.message
  work.emit('charge.failed', 'charge', charge)
  failIntent(work, intent, method, decline, charge.id)
  return { status: 'declined', decline }
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
