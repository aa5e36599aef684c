import { type Html, html } from '../core/html.ts'
import { formatAmount } from '../stripe/wire/money.ts'
import type { ControlRoomState } from './state.ts'
import { moment, table } from './table.ts'

export function stripeTables(stripe: NonNullable<ControlRoomState['stripe']>): Html {
  return html`${table('Stripe customers', stripe.customers, {
    id: ({ id }) => id,
    'e-mail': ({ email }) => email,
    balance: ({ balance, currency }) => amount(balance, currency),
  })}
  ${table('Stripe subscriptions', stripe.subscriptions, {
    id: ({ id }) => id,
    customer: ({ customer }) => customer,
    status: ({ status }) => status,
    'trial ends': ({ trial_end }) => moment(trial_end),
    'cancels at': ({ cancel_at }) => moment(cancel_at),
  })}
  ${table('Stripe invoices', stripe.invoices, {
    number: ({ number, id }) => number ?? id,
    customer: ({ customer }) => customer,
    status: ({ status }) => status,
    total: ({ total, currency }) => amount(total, currency),
    remaining: ({ amount_remaining, currency }) => amount(amount_remaining, currency),
    'next attempt': ({ next_payment_attempt }) => moment(next_payment_attempt),
  })}
  ${table('Stripe events', stripe.events, {
    created: ({ created }) => moment(created),
    type: ({ type }) => type,
    id: ({ id }) => id,
  })}`
}

function amount(minor: unknown, currency: unknown): string {
  return typeof minor === 'number' ? formatAmount(minor, String(currency ?? 'usd')) : ''
}
