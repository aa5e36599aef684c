import { checkoutItems } from '../api/expand.ts'
import { listPage } from '../api/lists.ts'
import type { Operations } from '../api/operation.ts'
import { answer, change, list, retrieve, update } from '../api/resource.ts'
import { findCustomer } from '../payments/customer.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { readItems } from './checkout-items.ts'
import { newSession, priceSession } from './checkout-order.ts'
import { checkSession, checkTrial } from './checkout-rules.ts'
import { checkTax } from './checkout-tax.ts'

const DAY = 86_400

export const checkoutSessions: Operations = {
  'Checkout/Sessions.create': answer('checkout.session', (params, { work }) => {
    const mode = checkSession(params)
    checkTrial(params, work.now)
    const customer = findCustomer(work, params.customer)?.id ?? null
    const expires = readExpiry(work, params.expires_at)
    const items = readItems(work, params, mode)
    checkTax(work, params, mode)
    const session = newSession(work, { params, mode, customer, items, expires })
    priceSession(work, session)
    return work.insert('checkout.session', session)
  }),
  'Checkout/Sessions.retrieve': retrieve('checkout.session'),
  'Checkout/Sessions.update': update('checkout.session', [], (_session, params) => {
    const foreign = Object.keys(params).find((name) => name !== 'metadata' && name !== 'expand')
    if (foreign === undefined) return
    throw invalidRequest(
      `You can only update \`${foreign}\` when \`ui_mode\` is \`embedded_page\` or \`elements\`.`,
      foreign,
    )
  }),
  'Checkout/Sessions.expire': change('checkout.session', (session, _params, { work }) => {
    if (session.status !== 'open') {
      throw invalidRequest(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
      )
    }
    session.status = 'expired'
    session.url = null
    session.$.expiresNextAt = null
    work.emit('checkout.session.expired', 'checkout.session', session)
  }),
  'Checkout/Sessions.list': list('checkout.session', { by: ['customer'] }),
  'Checkout/Sessions.listLineItems': (params, { work, ids, path }) => {
    const session = work.require('checkout.session', ids[0] ?? '')
    return listPage(checkoutItems(session.id, work.tables), params, path, (item) => item)
  },
}

function readExpiry(work: UnitOfWork, wanted: number | undefined): number {
  const expires = wanted ?? work.sandboxNow + DAY
  if (expires >= work.sandboxNow + 1800 && expires <= work.sandboxNow + DAY) return expires
  throw invalidRequest(
    'The `expires_at` timestamp must be between 30 minutes and 24 hours from now.',
    'expires_at',
  )
}
