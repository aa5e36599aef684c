import { expect } from 'vitest'
import type { ProviderName } from '../../src/index.ts'

type Writes = Readonly<Record<string, readonly string[] | undefined>>

/**
 * A few stories that together make all the writes of all stories, listed by statement and table.
 * Only these run on databases other than SQLite: apart from writes, the stories differ only in
 * requests to the provider.
 */
const WRITES_BY_STORY: Readonly<Record<ProviderName, Writes>> = {
  stripe: {
    'addPaymentMethod as the default': ['update users'],
    addPriceAndInvoice: ['insert billing_subscription_items', 'delete billing_subscription_items'],
    'applyPromotionCode with a single-use code': [
      'insert billing_code_attempts',
      'update billing_code_attempts',
    ],
    cancelUsage: ['update billing_usage'],
    transferTo: ['insert billing_transfers', 'update billing_disputes'],
    'the end of a subscription by a lost dispute': [
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
    'the event and the mail of a payment': [
      'insert billing_events',
      'update billing_events',
      'insert billing_notices',
      'update billing_notices',
    ],
  },
}

const KNOWN = Object.values(WRITES_BY_STORY)
  .flatMap((stories) => Object.values(stories))
  .flatMap((writes) => writes ?? [])

export function runsOnThisDatabase(provider: ProviderName, story: string): boolean {
  return process.env.TEST_DATABASE === 'sqlite' || WRITES_BY_STORY[provider][story] !== undefined
}

/**
 * Checks that a story makes every write listed for it, and no write that is missing from the whole
 * list.
 */
export function expectWrites(
  provider: ProviderName,
  story: string,
  steps: readonly string[],
): void {
  const writes = new Set(steps.flatMap((step) => writeOf(step) ?? []))
  for (const write of WRITES_BY_STORY[provider][story] ?? []) expect([...writes]).toContain(write)
  const unknown = [...writes].filter((write) => !KNOWN.includes(write))
  expect(unknown, `${story} writes what other databases are not tried with`).toEqual([])
}

/** Returns the write of a step, such as `insert billing_locks`. `null` for other steps. */
function writeOf(step: string): string | null {
  const [, kind, table] = /^before (insert|update|delete)\b[^"`]*["`](\w+)["`]/.exec(step) ?? []
  return kind ? `${kind} ${table}` : null
}
