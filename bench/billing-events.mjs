import { createHmac } from 'node:crypto'
import { formatRequest } from './connection.mjs'

export const webhookSecret = 'whsec_bench'

/** Event types of the benchmark: one without a handler, and one with. */
export const types = { stored: 'charge.succeeded', handled: 'invoice.paid' }

let sent = 0

/** Returns a new signed event of a realistic size. */
export function nextEvent(type) {
  const n = sent++
  const payload = JSON.stringify({
    id: `evt_${process.pid}_${n}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    type,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    data: { object: { ...OBJECT, id: `in_${n}`, customer: `cus_${1 + (n % 1000)}` } },
  })
  const t = Math.floor(Date.now() / 1000)
  const v1 = createHmac('sha256', webhookSecret).update(`${t}.${payload}`).digest('hex')
  return formatRequest(
    'POST',
    '/stripe/webhook',
    { 'Stripe-Signature': `t=${t},v1=${v1}` },
    payload,
  )
}

const LINE = {
  id: 'il_1',
  object: 'line_item',
  amount: 1000,
  currency: 'usd',
  description: '1 x Gold (at $10.00 / month)',
  quantity: 1,
  period: { start: 1767225600, end: 1769904000 },
  parent: {
    type: 'subscription_item_details',
    invoice_item_details: null,
    subscription_item_details: {
      subscription: 'sub_1',
      subscription_item: 'si_1',
      proration: false,
    },
  },
  pricing: { type: 'price_details', price_details: { price: 'price_1', product: 'prod_1' } },
}
const OBJECT = {
  object: 'invoice',
  status: 'paid',
  number: 'A-1',
  currency: 'usd',
  created: 1767225600,
  subtotal: 1000,
  total: 1190,
  amount_due: 1190,
  amount_paid: 1190,
  amount_remaining: 0,
  starting_balance: 0,
  customer_email: 'user@example.com',
  hosted_invoice_url: `https://invoice.stripe.com/i/acct_1/test_${'Y'.repeat(150)}`,
  invoice_pdf: `https://pay.stripe.com/invoice/acct_1/test_${'Y'.repeat(150)}/pdf`,
  discounts: [],
  total_taxes: [{ amount: 190, tax_behavior: 'exclusive', taxable_amount: 1000 }],
  parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_1' } },
  lines: { object: 'list', has_more: false, data: [LINE, { ...LINE, id: 'il_2' }], total_count: 2 },
}
