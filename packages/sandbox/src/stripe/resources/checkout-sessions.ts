import { renderCheckoutItems } from '../api/expand.ts'
import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { findCustomer } from '../payments/customer.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { parseCheckoutItems } from './checkout-items.ts'
import { createCheckoutSession, quoteSession } from './checkout-order.ts'
import { checkCheckoutSession, checkCheckoutTrial } from './checkout-rules.ts'
import { checkCheckoutTax } from './checkout-tax.ts'

const DAY = 86_400

export const checkoutSessionOperations: StripeOperations = {
  'Checkout/Sessions.create': customOperation('checkout.session', (params, { work }) => {
    const mode = checkCheckoutSession(params)
    checkCheckoutTrial(params, work.now)
    const customer = findCustomer(work, params.customer)?.id ?? null
    const expires = readExpiry(work, params.expires_at)
    const items = parseCheckoutItems(work, params, mode)
    checkCheckoutTax(work, params, mode)
    const session = createCheckoutSession(work, { params, mode, customer, items, expires })
    quoteSession(work, session)
    return work.insert('checkout.session', session)
  }),
  'Checkout/Sessions.retrieve': retrieveOperation('checkout.session'),
  'Checkout/Sessions.update': updateOperation('checkout.session', [], (_session, params) => {
    const foreign = Object.keys(params).find((name) => name !== 'metadata' && name !== 'expand')
    if (foreign === undefined) return
    throw createInvalidRequestFault(
      `You can only update \`${foreign}\` when \`ui_mode\` is \`embedded_page\` or \`elements\`.`,
      foreign,
    )
  }),
  'Checkout/Sessions.expire': changeOperation('checkout.session', (session, _params, { work }) => {
    if (session.status !== 'open') {
      throw createInvalidRequestFault(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
      )
    }
    session.status = 'expired'
    session.url = null
    session.$.expiresNextAt = null
    work.emit('checkout.session.expired', 'checkout.session', session)
  }),
  'Checkout/Sessions.list': listOperation('checkout.session', { by: ['customer'] }),
  'Checkout/Sessions.listLineItems': (params, { work, ids, path }) => {
    const session = work.require('checkout.session', ids[0] ?? '')
    return listPage(renderCheckoutItems(session.id, work.tables), params, path, (item) => item)
  },
}

function readExpiry(work: UnitOfWork, requestedExpiry: number | undefined): number {
  const expires = requestedExpiry ?? work.sandboxNow + DAY
  if (expires >= work.sandboxNow + 1800 && expires <= work.sandboxNow + DAY) return expires
  throw createInvalidRequestFault(
    'The `expires_at` timestamp must be between 30 minutes and 24 hours from now.',
    'expires_at',
  )
}
