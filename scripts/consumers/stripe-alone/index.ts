// An application with Stripe and Hono: neither Braintree nor another framework is installed.
import { createBilling } from '@tollgate/billing'
import { forHono } from '@tollgate/billing/hono'
import { connect } from '@tollgate/database'
import { Hono } from 'hono'

const database = await connect('sqlite::memory:')
const billing = createBilling({
  database,
  users: { table: 'users' },
  stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1', config: { maxNetworkRetries: 1 } },
  handlers: {
    handleInvoicePaymentSucceeded(payload) {
      const paid: number = payload.data.object.amount_paid
      // @ts-expect-error The SDK's types are the real ones: an amount is no text.
      const text: string = payload.data.object.amount_paid
      console.log(paid, text)
    },
  },
})
const app = new Hono()
app.use(forHono(billing).routes)
