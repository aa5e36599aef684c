import { expect } from 'vitest'
import type { ProviderName } from '../../src/index.ts'

type Writes = Readonly<Record<string, readonly string[] | undefined>>

/**
 * Few stories, each with its writes by kind of statement and table, that together have all the writes of all stories. Databases
 * other than SQLite are tried with these alone: beside that the stories differ in what a provider is asked.
 */
const EVERYWHERE: Readonly<Record<ProviderName, Writes>> = {
  stripe: {
    'addPaymentMethod as the default': ['update users'],
    addPriceAndInvoice: ['insert billing_subscription_items', 'delete billing_subscription_items'],
    'apply a code that works once': [
      'insert billing_code_attempts',
      'update billing_code_attempts',
    ],
    cancelUsage: ['update billing_usage'],
    transferTo: ['insert billing_transfers', 'update billing_disputes'],
    'ending what a lost dispute ends': [
      'insert billing_webhooks',
      'update billing_webhooks',
      'insert billing_disputes',
    ],
  },
  braintree: {
    'create() of a team': [
      'update teams',
      'insert billing_locks',
      'update billing_locks',
      'insert billing_operations',
      'delete billing_operations',
      'insert subscriptions',
      'update subscriptions',
      'insert billing_taxes',
      'update billing_taxes',
    ],
    'telling of a payment, by mail as well': [
      'insert billing_events',
      'update billing_events',
      'insert billing_notices',
      'update billing_notices',
    ],
  },
}

const KNOWN = Object.values(EVERYWHERE)
  .flatMap((stories) => Object.values(stories))
  .flatMap((writes) => writes ?? [])

export function isTried(provider: ProviderName, story: string): boolean {
  return process.env.TEST_DATABASE === 'sqlite' || EVERYWHERE[provider][story] !== undefined
}

/** A story writes what the table says of it, and no story writes what the table has nowhere. */
export function expectWrites(
  provider: ProviderName,
  story: string,
  steps: readonly string[],
): void {
  const writes = new Set(steps.flatMap((step) => writeOf(step) ?? []))
  for (const write of EVERYWHERE[provider][story] ?? []) expect([...writes]).toContain(write)
  const unknown = [...writes].filter((write) => !KNOWN.includes(write))
  expect(unknown, `${story} writes what other databases are not tried with`).toEqual([])
}

/** `insert billing_locks`; null for a step that is no write. */
function writeOf(step: string): string | null {
  const [, kind, table] = /^before (insert|update|delete)\b[^"`]*["`](\w+)["`]/.exec(step) ?? []
  return kind ? `${kind} ${table}` : null
}
