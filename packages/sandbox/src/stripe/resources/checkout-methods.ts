import { findTestAccount, newDebitMethod } from '../payments/debits/test-accounts.ts'
import { requirePaymentMethod } from '../payments/payment-methods.ts'
import type { CheckoutSessionRow, PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import type { CheckoutParams } from './checkout-rules.ts'

/** What the customer may pay with, as the dashboard and the session say. The sandbox takes debits for one payment in euros. */
export function methodTypes(session: CheckoutSessionRow): string[] {
  const params = JSON.parse(session.$.params) as CheckoutParams
  const { setup_future_usage: kept, capture_method: capture } = params.payment_intent_data ?? {}
  const isAllowed = params.allowed_payment_method_types?.includes('sepa_debit') ?? true
  const isExcluded = params.excluded_payment_method_types?.includes('sepa_debit') ?? false
  const isPlain = !kept && capture !== 'manual' && !params.invoice_creation?.enabled
  const takesDebits =
    session.mode === 'payment' && session.currency === 'eur' && isAllowed && !isExcluded && isPlain
  return takesDebits ? ['card', 'sepa_debit'] : ['card']
}

/** The bank account that is typed into the page; null for anything else. */
export function findTypedAccount(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  value: string,
): PaymentMethodRow | null {
  if (!value.startsWith('pm_sepaDebit_')) return null
  if (!findTestAccount(value)) return requirePaymentMethod(work, value, 'payment_method')
  if (!methodTypes(session).includes('sepa_debit')) {
    throw invalidRequest(
      'The sandbox takes a bank debit for one payment in euros, without an invoice.',
      'payment_method',
    )
  }
  return newDebitMethod(work, value)
}
