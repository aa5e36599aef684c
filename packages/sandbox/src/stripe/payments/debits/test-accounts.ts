import type { PaymentMethodRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { newMethod } from '../payment-methods.ts'

/** A bank account of Stripe's tests, and what becomes of a debit from it. */
export interface TestAccount {
  readonly last4: string
  readonly pays: boolean
  /** How long it takes. */
  readonly seconds: number
}

const BANK = '37040044'

/** Stripe's test values, `pm_sepaDebit_<name>`. https://docs.stripe.com/payments/sepa-debit/accept-a-payment */
export const TEST_ACCOUNTS: Readonly<Record<string, TestAccount>> = {
  success_de: { last4: '3000', pays: true, seconds: 0 },
  successDelayed_de: { last4: '3003', pays: true, seconds: 180 },
  failed_de: { last4: '3001', pays: false, seconds: 0 },
  failedDelayed_de: { last4: '3004', pays: false, seconds: 180 },
}

const PREFIX = 'pm_sepaDebit_'

/** `pm_sepaDebit_success_de` → its account; null when it is no test value. */
export function findTestAccount(value: string): TestAccount | null {
  const name = value.startsWith(PREFIX) ? value.slice(PREFIX.length) : ''
  return (Object.hasOwn(TEST_ACCOUNTS, name) ? TEST_ACCOUNTS[name] : null) ?? null
}

/** What the account behind a payment method does; null for a card. */
export function accountOf(method: PaymentMethodRow): TestAccount | null {
  return method.type === 'sepa_debit' ? findTestAccount(`pm_${method.$.behavior}`) : null
}

export function newDebitMethod(work: UnitOfWork, value: string): PaymentMethodRow {
  const { last4 = '' } = findTestAccount(value) ?? {}
  return work.insert('payment_method', {
    ...newMethod(work),
    sepa_debit: {
      bank_code: BANK,
      branch_code: '',
      country: 'DE',
      fingerprint: `fp_sepa_${last4}`,
      generated_from: { charge: null, setup_attempt: null },
      last4,
    },
    type: 'sepa_debit',
    $: { behavior: value.slice('pm_'.length), detached: false, authenticated: false },
  })
}
