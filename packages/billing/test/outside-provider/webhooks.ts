import { createHmac } from 'node:crypto'
import { type Gateway, InvalidSignature, type RawWebhook } from '@tollgate/billing'
import type { PaperbackOptions } from './options.ts'

interface Event {
  readonly id: string
  readonly type: string
  readonly subscription: string
}

/** Makes the webhook that the provider would send when a subscription has changed. */
export function signEvent({ ledger, secret }: PaperbackOptions, subscription: string): RawWebhook {
  const event: Event = { id: ledger.nextId('event'), type: 'subscription.changed', subscription }
  const body = JSON.stringify(event)
  const signature = sign(secret, body)
  return { body, header: (name) => (name === 'paperback-signature' ? signature : null) }
}

function sign(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

export function webhooks({
  secret,
}: PaperbackOptions): Pick<Gateway, 'verifyWebhook' | 'readEvent' | 'subjectOf'> {
  return {
    async verifyWebhook({ body, header }) {
      if (header('paperback-signature') !== sign(secret, body)) {
        throw new InvalidSignature('The signature does not match')
      }
      const { id, type } = JSON.parse(body) as Event
      return { id, type, payload: body, foreign: false }
    },
    readEvent: async (payload) => JSON.parse(payload),
    subjectOf: (event) => ({
      subscriptionId: (event as Event).subscription,
      customerId: null,
      customerDeleted: false,
      cardChanged: false,
      failedCharges: null,
    }),
  }
}
