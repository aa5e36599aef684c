import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { isAbandonedInvoice } from './stripe-abandoned-invoices.ts'

const MADE = 1_768_471_200

/** A subscription to one unit of `monthly`. */
function subscription(more: object = {}): Stripe.Subscription {
  const items = { data: [{ price: { id: 'monthly' }, quantity: 1 }] }
  return { items, trial_end: null, pending_update: null, ...more } as Stripe.Subscription
}

type Line = readonly [price: string, quantity: number, amount: number, start?: number]

function bill(reason: string, lines: readonly Line[], more: object = {}): Stripe.Invoice {
  const data = lines.map(([price, quantity, amount, start = MADE]) => ({
    amount,
    quantity,
    period: { start },
    pricing: { price_details: { price } },
    parent: { type: 'subscription_item_details' },
  }))
  return {
    id: 'in_1',
    created: MADE,
    collection_method: 'charge_automatically',
    billing_reason: reason,
    lines: { data },
    ...more,
  } as unknown as Stripe.Invoice
}

const swapped: readonly Line[] = [
  ['monthly', 1, -1000],
  ['yearly', 1, 10_000],
]
const sent = { collection_method: 'send_invoice' }

it.each<[string, boolean, Stripe.Subscription, Stripe.Invoice]>([
  ['a first payment', true, subscription(), bill('subscription_create', [['monthly', 1, 1000]])],
  ['a first payment sent by mail', false, subscription(), bill('subscription_create', [], sent)],
  ['a renewal', false, subscription(), bill('subscription_cycle', [['monthly', 1, 1000]])],
  ['usage billed at the end', false, subscription(), bill('manual', swapped)],
  ['a price it never had', true, subscription(), bill('subscription_update', swapped)],
  [
    'a price it has',
    false,
    subscription({ items: { data: [{ price: { id: 'yearly' }, quantity: 1 }] } }),
    bill('subscription_update', swapped),
  ],
  [
    'seats it never had',
    true,
    subscription(),
    bill('subscription_update', [
      ['monthly', 1, -1000],
      ['monthly', 3, 3000],
    ]),
  ],
  [
    'seats it has, beside seats that came and went before',
    false,
    subscription(),
    bill('subscription_update', [
      ['monthly', 3, 3000, MADE - 600],
      ['monthly', 3, -2000],
      ['monthly', 1, 1000],
    ]),
  ],
  [
    'the end of a trial that continued',
    true,
    subscription({ trial_end: MADE + 600 }),
    bill('subscription_update', [['monthly', 1, 1000]]),
  ],
  [
    'the end of a trial',
    false,
    subscription({ trial_end: MADE }),
    bill('subscription_update', [['monthly', 1, 1000]]),
  ],
  [
    'a pending update of Stripe',
    true,
    subscription({ pending_update: {}, latest_invoice: 'in_1' }),
    bill('subscription_update', [['monthly', 1, 1000]]),
  ],
  ['no lines', false, subscription(), bill('subscription_update', [])],
])(
  'isAbandonedInvoice() for an open invoice of an ended subscription, where the invoice is for %s, returns %s',
  (_name, expected, ended, invoice) => {
    expect(isAbandonedInvoice(ended, invoice)).toBe(expected)
  },
)
