import type Stripe from 'stripe'
import { checkoutItems } from '../api/expand.ts'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { readItems } from './checkout-items.ts'
import { newSession, priceSession } from './checkout-order.ts'
import { type CheckoutParams, checkSession, checkTrial } from './checkout-rules.ts'
import { checkTax } from './checkout-tax.ts'

const DAY = 86_400

export const checkoutSessions: Operations = {
  'Checkout/Sessions.create': op<CheckoutParams>((params, { work }) => {
    const mode = checkSession(params)
    checkTrial(params, work.now)
    const customer =
      params.customer === undefined ? null : requireCustomer(work, params.customer, 'customer').id
    const expires = readExpiry(work, params.expires_at)
    const items = readItems(work, params, mode)
    checkTax(work, params, mode)
    const session = newSession(work, { params, mode, customer, items, expires })
    priceSession(work, session)
    work.insert('checkout.session', session)
    return render('checkout.session', session, work.tables)
  }),
  'Checkout/Sessions.retrieve': op((_params, call) =>
    render('checkout.session', call.work.require('checkout.session', idOf(call)), call.work.tables),
  ),
  'Checkout/Sessions.update': op<Stripe.Checkout.SessionUpdateParams>((params, call) => {
    const { work } = call
    const { metadata, expand: _expand, ...rest } = params
    const [foreign] = Object.keys(rest)
    if (foreign !== undefined) {
      throw invalidRequest(
        `You can only update \`${foreign}\` when \`ui_mode\` is \`embedded_page\` or \`elements\`.`,
        foreign,
      )
    }
    const session = work.edit('checkout.session', work.require('checkout.session', idOf(call)))
    session.metadata = mergeMetadata(session.metadata, metadata)
    return render('checkout.session', session, work.tables)
  }),
  'Checkout/Sessions.expire': op((_params, call) => {
    const { work } = call
    const session = work.edit('checkout.session', work.require('checkout.session', idOf(call)))
    if (session.status !== 'open') {
      throw invalidRequest(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
      )
    }
    session.status = 'expired'
    session.url = null
    session.$.expiresNextAt = null
    work.emit('checkout.session.expired', 'checkout.session', session)
    return render('checkout.session', session, work.tables)
  }),
  'Checkout/Sessions.list': op<Stripe.Checkout.SessionListParams>((params, { work, path }) => {
    const email = params.customer_details?.email
    const rows = filterRows(
      work.tables['checkout.session'].newestFirst(),
      (row) =>
        (params.customer === undefined || row.customer === params.customer) &&
        (email === undefined || row.customer_details?.email === email) &&
        (params.subscription === undefined || row.subscription === params.subscription) &&
        (params.payment_intent === undefined || row.payment_intent === params.payment_intent) &&
        (params.payment_link === undefined || row.payment_link === params.payment_link) &&
        (params.status === undefined || row.status === params.status) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('checkout.session', row, work.tables))
  }),
  'Checkout/Sessions.listLineItems': op<Stripe.Checkout.SessionListLineItemsParams>(
    (params, { work, ids, path }) => {
      const session = work.require('checkout.session', ids[0] ?? '')
      return listPage(checkoutItems(session.id, work.tables), params, path, (item) => item)
    },
  ),
}

function readExpiry(work: UnitOfWork, wanted: number | undefined): number {
  const expires = wanted ?? work.sandboxNow + DAY
  if (expires >= work.sandboxNow + 1800 && expires <= work.sandboxNow + DAY) return expires
  throw invalidRequest(
    'The `expires_at` timestamp must be between 30 minutes and 24 hours from now.',
    'expires_at',
  )
}
