import type Stripe from 'stripe'
import { checkoutItems } from '../api/expand.ts'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { createPrice } from '../catalog/prices.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { CheckoutSessionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'

type Params = Stripe.Checkout.SessionCreateParams

export const checkoutSessions: Operations = {
  'Checkout/Sessions.create': op<Params>((params, { work }) => {
    const mode = params.mode ?? 'payment'
    if (
      params.ui_mode !== undefined &&
      params.ui_mode !== 'hosted_page' &&
      params.ui_mode !== 'hosted'
    ) {
      throw invalidRequest('The sandbox has hosted checkout pages only.', 'ui_mode')
    }
    if (params.success_url === undefined) throw missingParam('success_url')
    const customer =
      params.customer === undefined ? null : requireCustomer(work, params.customer, 'customer')
    const items = readItems(work, params, mode)
    const first = work.find('price', items[0]?.price ?? '')
    const total = items.reduce(
      (sum, item) => sum + (work.find('price', item.price)?.unit_amount ?? 0) * item.quantity,
      0,
    )
    const trialing = Boolean(
      params.subscription_data?.trial_period_days || params.subscription_data?.trial_end,
    )
    const id = work.newId('cs_test_', 40)
    const expires = params.expires_at ?? work.now + 86_400
    if (expires < work.now + 1800 || expires > work.now + 86_400) {
      throw invalidRequest(
        'The `expires_at` timestamp must be between 30 minutes and 24 hours from now.',
        'expires_at',
      )
    }
    const session: CheckoutSessionRow = {
      ...nulls<Stripe.Checkout.Session>('checkout.session'),
      id,
      object: 'checkout.session',
      allow_promotion_codes: params.allow_promotion_codes ?? null,
      amount_subtotal: mode === 'setup' ? null : trialing ? 0 : total,
      amount_total: mode === 'setup' ? null : trialing ? 0 : total,
      automatic_tax: { enabled: false, liability: null, provider: null, status: null },
      cancel_url: params.cancel_url ?? null,
      client_reference_id: params.client_reference_id ?? null,
      created: work.now,
      currency: first?.currency ?? params.currency ?? null,
      custom_fields: [],
      custom_text: {
        after_submit: null,
        shipping_address: null,
        submit: null,
        terms_of_service_acceptance: null,
      },
      customer: customer?.id ?? null,
      customer_creation:
        mode === 'payment' && !customer ? (params.customer_creation ?? 'if_required') : null,
      customer_email: params.customer_email ?? null,
      expires_at: expires,
      livemode: false,
      metadata: mergeMetadata({}, params.metadata),
      mode,
      payment_method_collection:
        mode === 'subscription' ? (params.payment_method_collection ?? 'always') : 'if_required',
      payment_method_options: {},
      payment_method_types: ['card'],
      payment_status: mode === 'setup' || trialing ? 'no_payment_required' : 'unpaid',
      shipping_options: [],
      status: 'open',
      success_url: params.success_url,
      total_details:
        mode === 'setup' ? null : { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
      ui_mode: 'hosted_page',
      url: `${work.context.baseUrl}/pages/checkout/${id}`,
      $: { items, params: JSON.stringify(params), expiresNextAt: expires },
    }
    work.insert('checkout.session', session)
    return render('checkout.session', session, work.tables)
  }),
  'Checkout/Sessions.retrieve': op((_params, call) =>
    render('checkout.session', call.work.require('checkout.session', idOf(call)), call.work.tables),
  ),
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
    const rows = filterRows(
      work.tables['checkout.session'].newestFirst(),
      (row) =>
        (params.customer === undefined || row.customer === params.customer) &&
        (params.subscription === undefined || row.subscription === params.subscription) &&
        (params.payment_intent === undefined || row.payment_intent === params.payment_intent) &&
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

function readItems(
  work: UnitOfWork,
  params: Params,
  mode: string,
): Array<{ price: string; quantity: number }> {
  if (mode === 'setup') {
    if (params.line_items)
      throw invalidRequest('You can not pass `line_items` in `setup` mode.', 'line_items')
    return []
  }
  if (!params.line_items || params.line_items.length === 0) throw missingParam('line_items')
  const items = params.line_items.map((item, at) => {
    const path = `line_items[${at}]`
    if (item.quantity === undefined) throw missingParam(`${path}[quantity]`)
    if (item.quantity < 1)
      throw invalidRequest(
        'This value must be greater than or equal to 1.',
        `${path}[quantity]`,
        'parameter_invalid_integer',
      )
    if (item.price !== undefined) {
      return {
        price: work.require('price', item.price, `${path}[price]`).id,
        quantity: item.quantity,
      }
    }
    if (!item.price_data) throw missingParam(`${path}[price]`)
    const { product } = item.price_data
    if (product === undefined)
      throw invalidRequest(
        'The sandbox needs `price_data[product]`.',
        `${path}[price_data][product]`,
      )
    return {
      price: createPrice(work, {
        ...(item.price_data as Parameters<typeof createPrice>[1]),
        product,
      }).id,
      quantity: item.quantity,
    }
  })
  const recurring = items.some((item) => work.find('price', item.price)?.recurring)
  if (mode === 'subscription' && !recurring) {
    throw invalidRequest(
      'You must provide at least one recurring price in `subscription` mode when using prices.',
      'line_items',
    )
  }
  if (mode === 'payment' && recurring) {
    throw invalidRequest(
      'You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.',
      'mode',
    )
  }
  return items
}
