import { type Html, html } from '../core/html.ts'
import type { ControlRoomState } from './state.ts'
import { table } from './table.ts'

export function braintreeTables(braintree: NonNullable<ControlRoomState['braintree']>): Html {
  return html`${table('Braintree customers', braintree.customers, {
    id: ({ id }) => id,
    name: ({ firstName, lastName }) => [firstName, lastName].filter(Boolean).join(' '),
    'e-mail': ({ email }) => email,
  })}
  ${table('Braintree subscriptions', braintree.subscriptions, {
    id: ({ id }) => id,
    plan: ({ planId }) => planId,
    status: ({ status }) => status,
    'next billing': ({ nextBillingDate }) => nextBillingDate,
  })}
  ${table('Braintree transactions', braintree.transactions, {
    id: ({ id }) => id,
    type: ({ type }) => type,
    status: ({ status }) => status,
    amount: ({ amount }) => amount,
    customer: ({ customer }) => customer?.id,
  })}`
}
