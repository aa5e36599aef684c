import type { StripeContext } from './context.ts'
import { nowOf } from './context.ts'
import { receiversIn, sendTo, wants } from './receivers.ts'
import type { EventRow, ThinEventRow } from './rows.ts'

/** How an event is called where its webhook only names it. */
export function thinType(type: string): string {
  return `v1.${type}`
}

/** Where an object is read that a thin event is about. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'billing.meter': 'billing/meters',
  'billing_portal.configuration': 'billing_portal/configurations',
  charge: 'charges',
  'checkout.session': 'checkout/sessions',
  coupon: 'coupons',
  credit_note: 'credit_notes',
  customer: 'customers',
  dispute: 'disputes',
  invoice: 'invoices',
  invoice_payment: 'invoice_payments',
  invoiceitem: 'invoiceitems',
  payment_intent: 'payment_intents',
  payment_method: 'payment_methods',
  plan: 'plans',
  price: 'prices',
  product: 'products',
  promotion_code: 'promotion_codes',
  refund: 'refunds',
  setup_intent: 'setup_intents',
  subscription: 'subscriptions',
  subscription_schedule: 'subscription_schedules',
  tax_id: 'tax_ids',
  tax_rate: 'tax_rates',
  'test_helpers.test_clock': 'test_helpers/test_clocks',
}

export function relatedTo(object: {
  readonly id?: unknown
  readonly object?: unknown
}): Pick<ThinEventRow, 'related_object'> {
  const type = String(object.object)
  const address = Object.hasOwn(ADDRESSES, type) ? ADDRESSES[type] : undefined
  if (typeof object.id !== 'string' || address === undefined) return {}
  return { related_object: { id: object.id, type, url: `/v1/${address}/${object.id}` } }
}

/** The thin twin of an event, for the destinations that want it so. */
export function tellThin(context: StripeContext, event: EventRow): void {
  const { request } = event
  const thin: ThinEventRow = {
    id: context.store.nextId('evt_test_'),
    object: 'v2.core.event',
    type: thinType(event.type),
    livemode: false,
    created: new Date(nowOf(context) * 1000).toISOString(),
    ...relatedTo(event.data),
    snapshot_event: event.id,
    ...(request?.id
      ? {
          reason: {
            type: 'request',
            request: { id: request.id, idempotency_key: request.idempotency_key ?? '' },
          },
        }
      : {}),
  }
  context.tables['v2.core.event'].set(thin.id, thin)
  sendThinEvent(context, thin)
}

/**
 * What it says has to be asked for. It goes to thin destinations; an endpoint that names its very type, as only a test
 * can register one, gets it as well.
 */
export function sendThinEvent(context: StripeContext, event: ThinEventRow): void {
  const { data: _data, ...told } = event
  const body = JSON.stringify(told)
  for (const receiver of receiversIn(context.tables)) {
    const isMeant = receiver.payload === 'thin' || receiver.events.includes(event.type)
    if (isMeant && wants(receiver, event.type)) sendTo(context, receiver, event, body)
  }
}
