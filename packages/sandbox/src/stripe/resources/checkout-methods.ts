import {
  createDebitMethod,
  type DebitType,
  findTestAccount,
  parseDebitType,
} from '../payments/debits/test-accounts.ts'
import { requirePaymentMethod } from '../payments/payment-methods.ts'
import type { CheckoutSessionRow, PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import type { CheckoutParams } from './checkout-rules.ts'

/** Type of bank debit offered in a currency. */
const DEBITS: Readonly<Record<string, DebitType>> = { eur: 'sepa_debit', usd: 'us_bank_account' }
/** Debits offered by default, as if enabled in the dashboard. */
const OFFERED: ReadonlySet<DebitType> = new Set(['sepa_debit'])

/** Returns the types of payment methods that a checkout session accepts. */
export function listPaymentMethodTypes(session: CheckoutSessionRow): string[] {
  const params = JSON.parse(session.$.params) as CheckoutParams
  const { allowed_payment_method_types: allowed, excluded_payment_method_types: excluded } = params
  const debit = debitTypeFor(session, params)
  const offered = ['card', ...(debit && (allowed ?? OFFERED.has(debit)) ? [debit] : [])]
  return offered.filter(
    (type) =>
      (allowed?.includes(type as 'card') ?? true) && !excluded?.includes(type as 'sepa_debit'),
  )
}

function debitTypeFor(session: CheckoutSessionRow, params: CheckoutParams): DebitType | null {
  // Bank debits do not support manual capture.
  if (params.payment_intent_data?.capture_method === 'manual') return null
  const currency = session.currency ?? params.currency?.toLowerCase() ?? ''
  return (Object.hasOwn(DEBITS, currency) ? DEBITS[currency] : null) ?? null
}

/**
 * Returns the test bank account that the customer entered on a checkout page. `null` for other
 * payment methods.
 */
export function findEnteredBankAccount(work: UnitOfWork, value: string): PaymentMethodRow | null {
  if (parseDebitType(value) === null) return null
  const account = findTestAccount(value)
  if (!account) return requirePaymentMethod(work, value, 'payment_method')
  return createDebitMethod(work, value, account)
}

/** Checks that a checkout session accepts a payment method of this type. */
export function checkAcceptedMethodType(
  session: CheckoutSessionRow,
  { type }: PaymentMethodRow,
): void {
  const taken = listPaymentMethodTypes(session)
  if (taken.includes(type)) return
  const what = type === 'card' ? 'a card' : 'a bank debit'
  throw createInvalidRequestFault(
    `This Checkout Session does not take ${what}, only: ${taken.join(', ')}. SEPA debits are in euros, those of US bank accounts in dollars where the session allows them.`,
    'payment_method',
  )
}
