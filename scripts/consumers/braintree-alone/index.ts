// An application with Braintree and Fastify, where neither Stripe nor another framework is
// installed.
import { createBilling } from '@tollgate/billing'
import { forFastify } from '@tollgate/billing/fastify'
import { connect } from '@tollgate/database'
import { fastify } from 'fastify'

const database = await connect('sqlite::memory:')
const billing = createBilling({
  database,
  users: { table: 'users' },
  braintree: {
    environment: 'sandbox',
    merchantId: 'm',
    publicKey: 'p',
    privateKey: 'k',
  },
  handlers: {
    handleDisputeOpened(notification) {
      const kind: 'dispute_opened' = notification.kind
      // @ts-expect-error The SDK's types are the real ones: there is no such kind.
      const other: 'dispute_forgotten' = notification.kind
      console.log(kind, other)
    },
  },
})
const user = await billing.user(1)
const { processorResponseCode } = await user.charge(19.99, { orderId: 'mug-1' })
const code: string = processorResponseCode
// @ts-expect-error The SDK's types are the real ones: a misspelt option does not compile.
await user.charge(19.99, { orderID: 'mug-1' })
// @ts-expect-error Nor does it for a customer.
await user.updateCard('fake-valid-nonce', { companie: 'Mills' })
console.log(code)
await fastify().register(forFastify(billing).routes)
