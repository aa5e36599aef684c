import { defineProvider, type Provider } from '@tollgate/billing'
import { customers } from './customers.ts'
import type { PaperbackOptions } from './options.ts'
import { payments } from './payments.ts'
import { subscriptions } from './subscriptions.ts'
import { webhooks } from './webhooks.ts'

declare module '@tollgate/billing' {
  interface ProviderNames {
    readonly paperback: unknown
  }
}

/** A payment provider in memory, written only against the published types. */
export function paperback(options: PaperbackOptions): Provider {
  return defineProvider({
    name: 'paperback',
    webhookPath: '/paperback/webhook',
    events: ['subscription.changed'],
    statuses: { late: 'past_due' },
    can: ['quantities'],
    connect: async () => ({
      name: 'paperback',
      ...customers(options),
      ...subscriptions(options),
      ...payments(options),
      ...webhooks(options),
      check: async () => [],
    }),
  })
}
