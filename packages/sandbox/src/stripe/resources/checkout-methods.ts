import {
  type DebitType,
  debitTypeOf,
  findTestAccount,
  newDebitMethod,
} from '../payments/debits/test-accounts.ts'
import { requirePaymentMethod } from '../payments/payment-methods.ts'
import type { CheckoutSessionRow, PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import type { CheckoutParams } from './checkout-rules.ts'

/** Which accounts can be debited in a currency. */
const DEBITS: Readonly<Record<string, DebitType>> = { eur: 'sepa_debit', usd: 'us_bank_account' }
/** Those that the dashboard offers unless the session says otherwise. */
const OFFERED: ReadonlySet<DebitType> = new Set(['sepa_debit'])

/** What the customer may pay with, as the dashboard and the session say. */
export function methodTypes(session: CheckoutSessionRow): string[] {
  const params = JSON.parse(session.$.params) as CheckoutParams
  const { allowed_payment_method_types: allowed, excluded_payment_method_types: excluded } = params
  const debit = debitIn(session, params)
  const offered = ['card', ...(debit && (allowed ?? OFFERED.has(debit)) ? [debit] : [])]
  return offered.filter(
    (type) =>
      (allowed?.includes(type as 'card') ?? true) && !excluded?.includes(type as 'sepa_debit'),
  )
}

function debitIn(session: CheckoutSessionRow, params: CheckoutParams): DebitType | null {
  // What a bank was asked for cannot be captured later.
  if (params.payment_intent_data?.capture_method === 'manual') return null
  const currency = session.currency ?? params.currency?.toLowerCase() ?? ''
  return (Object.hasOwn(DEBITS, currency) ? DEBITS[currency] : null) ?? null
}

/** The bank account that is typed into the page; null for anything else. */
export function findTypedAccount(work: UnitOfWork, value: string): PaymentMethodRow | null {
  if (debitTypeOf(value) === null) return null
  const account = findTestAccount(value)
  if (!account) return requirePaymentMethod(work, value, 'payment_method')
  return newDebitMethod(work, value, account)
}

/** Whatever it is paid with, the session has to take it. */
export function checkTaken(session: CheckoutSessionRow, { type }: PaymentMethodRow): void {
  const taken = methodTypes(session)
  if (taken.includes(type)) return
  const what = type === 'card' ? 'a card' : 'a bank debit'
  throw invalidRequest(
    `This Checkout Session does not take ${what}, only: ${taken.join(', ')}. SEPA debits are in euros, those of US bank accounts in dollars where the session allows them.`,
    'payment_method',
  )
}
