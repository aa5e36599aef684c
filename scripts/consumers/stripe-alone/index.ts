// An application with Stripe and Hono, where neither Braintree nor another framework is installed.
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
const user = await billing.user(1)
const { client_secret } = await user.charge(1999, { statement_descriptor_suffix: 'MUG' })
const secret: string | null = client_secret
// @ts-expect-error The SDK's types are the real ones: a misspelt option does not compile.
await user.charge(1999, { statement_descriptor_sufix: 'MUG' })
// @ts-expect-error Nor does it for a customer.
await user.updateCard('pm_card_visa', { descripton: 'Likes mugs' })
console.log(secret)
const app = new Hono()
app.use(forHono(billing).routes)
