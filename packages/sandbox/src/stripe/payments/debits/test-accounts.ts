import type { PaymentMethodRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { createBlankPaymentMethod } from '../payment-methods.ts'

export type DebitType = 'sepa_debit' | 'us_bank_account'

export const CURRENCY_OF_DEBITS: Readonly<Record<DebitType, string>> = {
  sepa_debit: 'eur',
  us_bank_account: 'usd',
}

/** One of Stripe's test bank accounts, with the result of a debit from it. */
export interface TestAccount {
  readonly type: DebitType
  readonly last4: string
  /** Why the bank refuses the debit. `null` if the debit succeeds. */
  readonly failure: DebitFailure | null
  /** Seconds until the bank decides on the debit. */
  readonly seconds: number
}

/**
 * Error of a failed bank debit: a code from https://docs.stripe.com/error-codes and its message.
 */
export interface DebitFailure {
  readonly code: string
  readonly message: string
}

const FAILED: DebitFailure = {
  code: 'payment_intent_payment_attempt_failed',
  message: 'The payment failed.',
}
const sepa = (last4: string, failure: DebitFailure | null, seconds: number): TestAccount => ({
  type: 'sepa_debit',
  last4,
  failure,
  seconds,
})
const ach = (last4: string, code?: string, message = ''): TestAccount => ({
  type: 'us_bank_account',
  last4,
  failure: code === undefined ? null : { code, message },
  seconds: 0,
})

/**
 * Stripe's test bank accounts, by the `<name>` in the test value `pm_<name>`. From
 * https://docs.stripe.com/payments/sepa-debit/accept-a-payment and
 * https://docs.stripe.com/payments/ach-direct-debit/accept-a-payment
 */
export const TEST_ACCOUNTS: Readonly<Record<string, TestAccount>> = {
  sepaDebit_success_de: sepa('3000', null, 0),
  sepaDebit_successDelayed_de: sepa('3003', null, 180),
  sepaDebit_failed_de: sepa('3001', FAILED, 0),
  sepaDebit_failedDelayed_de: sepa('3004', FAILED, 180),
  usBankAccount_success: ach('6789'),
  usBankAccount_accountClosed: ach(
    '1113',
    'account_closed',
    "The customer's bank account has been closed.",
  ),
  usBankAccount_noAccount: ach(
    '1116',
    'no_account',
    "The customer's bank account could not be located.",
  ),
  usBankAccount_insufficientFunds: ach(
    '2227',
    'insufficient_funds',
    "The customer's account has insufficient funds to cover this payment.",
  ),
  usBankAccount_debitNotAuthorized: ach(
    '3335',
    'debit_not_authorized',
    'The customer has notified their bank that this payment was unauthorized.',
  ),
}

/** Prefixes of the test values, by type of debit. */
const PREFIXES: ReadonlyArray<readonly [string, DebitType]> = [
  ['pm_sepaDebit_', 'sepa_debit'],
  ['pm_usBankAccount_', 'us_bank_account'],
]

/**
 * Returns the type of bank debit in the name of a test value, even if there is no test account with
 * this name. `null` for any other value.
 */
export function parseDebitType(value: string): DebitType | null {
  return PREFIXES.find(([prefix]) => value.startsWith(prefix))?.[1] ?? null
}

/**
 * Finds the test bank account of a test value such as `pm_sepaDebit_success_de`. `null` if there is
 * none.
 */
export function findTestAccount(value: string): TestAccount | null {
  const name = value.startsWith('pm_') ? value.slice('pm_'.length) : ''
  return (Object.hasOwn(TEST_ACCOUNTS, name) ? TEST_ACCOUNTS[name] : null) ?? null
}

/** Returns the test bank account of a payment method. `null` for a card. */
export function findMethodTestAccount(method: PaymentMethodRow): TestAccount | null {
  return method.type === 'card' ? null : findTestAccount(`pm_${method.$.behavior}`)
}

export function createDebitMethod(
  work: UnitOfWork,
  value: string,
  { type, last4 }: TestAccount,
): PaymentMethodRow {
  return work.insert('payment_method', {
    ...createBlankPaymentMethod(work),
    ...(type === 'sepa_debit' ? { sepa_debit: sepaAccount(last4) } : {}),
    ...(type === 'us_bank_account' ? { us_bank_account: usAccount(last4) } : {}),
    type,
    $: { behavior: value.slice('pm_'.length), detached: false, authenticated: false },
  })
}

function sepaAccount(last4: string): NonNullable<PaymentMethodRow['sepa_debit']> {
  return {
    bank_code: '37040044',
    branch_code: '',
    country: 'DE',
    fingerprint: `fp_sepa_${last4}`,
    generated_from: { charge: null, setup_attempt: null },
    last4,
  }
}

function usAccount(last4: string): NonNullable<PaymentMethodRow['us_bank_account']> {
  return {
    account_holder_type: 'individual',
    account_type: 'checking',
    bank_name: 'STRIPE TEST BANK',
    financial_connections_account: null,
    fingerprint: `fp_ach_${last4}`,
    last4,
    networks: { preferred: 'ach', supported: ['ach'] },
    routing_number: '110000000',
    status_details: {},
  }
}
