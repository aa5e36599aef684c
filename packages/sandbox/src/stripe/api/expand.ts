import { copyJson } from '../../core/store/copy-json.ts'
import { showCurrencyOptions } from '../catalog/currency-options.ts'
import { cardsOf, toCard } from '../payments/cards.ts'
import { showTax } from '../payments/tax-location.ts'
import { render } from '../state/render.ts'
import type { CheckoutParts, CheckoutSessionRow, Kind } from '../state/rows.ts'
import type { Tables } from '../state/tables.ts'
import type { Shape } from '../versions/shape.ts'
import { KINDS } from '../wire/contract.generated.ts'
import { invalidRequest } from '../wire/errors.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** Fields that are sent only when they are expanded, and how they are made. */
type Include = (object: WireObject, tables: Tables) => unknown

const INCLUDES: Readonly<Record<string, Readonly<Record<string, Include>>>> = {
  customer: {
    subscriptions: (object, tables) =>
      inlineList(
        tables.subscription
          .findBy('customer', object.id)
          .filter((row) => row.status !== 'canceled' && row.status !== 'incomplete_expired')
          .reverse()
          .map((row) => render('subscription', row, tables)),
        `/v1/customers/${object.id}/subscriptions`,
      ),
    sources: (object, tables) =>
      inlineList(
        cardsOf({ tables }, object.id).reverse().map(toCard),
        `/v1/customers/${object.id}/sources`,
      ),
    tax_ids: (object, tables) =>
      inlineList(taxIds(object.id, tables), `/v1/customers/${object.id}/tax_ids`),
    tax: (object, tables) => {
      const customer = tables.customer.get(object.id)
      return customer && showTax(tables, customer)
    },
  },
  invoice: {
    payments: (object, tables) =>
      inlineList(
        tables.invoice_payment
          .findBy('invoice', object.id)
          .reverse()
          .map((row) => render('invoice_payment', row, tables)),
        '/v1/invoice_payments',
      ),
    confirmation_secret: (object, tables) => {
      const intent = tables.payment_intent.get(tables.invoice.get(object.id)?.$.paymentIntent ?? '')
      if (!intent?.client_secret || intent.status === 'canceled') return null
      return { client_secret: intent.client_secret, type: 'payment_intent' }
    },
  },
  charge: {
    refunds: (object, tables) =>
      inlineList(
        tables.refund
          .findBy('charge', object.id)
          .reverse()
          .map((row) => render('refund', row, tables)),
        `/v1/charges/${object.id}/refunds`,
      ),
  },
  price: {
    currency_options: (object, tables) => {
      const price = tables.price.get(object.id)
      return price ? showCurrencyOptions(price) : undefined
    },
    tiers: (object, tables) => tables.price.get(object.id)?.$?.tiers,
  },
  plan: {
    tiers: (object, tables) => tables.price.get(object.id)?.$?.tiers,
  },
  coupon: {
    applies_to: (object, tables) => {
      const products = tables.coupon.get(object.id)?.$.products
      return products ? { products } : undefined
    },
    currency_options: (object, tables) => {
      const coupon = tables.coupon.get(object.id)
      if (!coupon?.currency || coupon.amount_off === null) return undefined
      const own = { [coupon.currency]: { amount_off: coupon.amount_off } }
      return { ...own, ...coupon.$.currencyOptions }
    },
  },
  promotion_code: {
    'restrictions.currency_options': (object, tables) => {
      const code = tables.promotion_code.get(object.id)
      const { minimum_amount: least, minimum_amount_currency: own } = code?.restrictions ?? {}
      if (!code || least == null || own == null) return undefined
      return { [own]: { minimum_amount: least }, ...code.$?.currencyOptions }
    },
  },
  'checkout.session': {
    line_items: (object, tables) =>
      inlineList(checkoutItems(object.id, tables), `/v1/checkout/sessions/${object.id}/line_items`),
    'total_details.breakdown': (object, tables) => {
      const session = tables['checkout.session'].get(object.id)
      return session ? renderParts(session, session.$.parts, tables) : undefined
    },
  },
  item: {
    discounts: (object, tables) => partsOfItem(object.id, tables)?.discounts,
    taxes: (object, tables) => partsOfItem(object.id, tables)?.taxes,
  },
}

/** What a checkout's total, or an item of it, is made of; null where that was never worked out. */
function renderParts(
  session: CheckoutSessionRow,
  parts: CheckoutParts | undefined,
  tables: Tables,
) {
  if (!parts) return undefined
  return {
    discounts: parts.discounts.map(({ amount, discount: id }) => {
      const row = tables.discount.get(id) ?? session.$.discounts?.[id]
      return { amount, discount: row ? render('discount', row, tables) : null }
    }),
    taxes: parts.taxes.map(({ rate: id, ...tax }) => {
      const rate = tables.tax_rate.get(id)
      return { ...tax, rate: rate ? render('tax_rate', rate, tables) : null }
    }),
  }
}

function partsOfItem(id: string, tables: Tables) {
  for (const session of tables['checkout.session'].newestFirst()) {
    const at = session.$.items.findIndex((_item, index) => itemId(session.id, index) === id)
    if (at >= 0) return renderParts(session, session.$.items[at]?.amounts?.parts, tables)
  }
  return undefined
}

function itemId(sessionId: string, at: number): string {
  return `li_${sessionId.slice(-20)}${at}`
}

function taxIds(customer: string, tables: Tables): WireObject[] {
  const ids = tables.customer.get(customer)?.$.taxIds ?? []
  return ids.flatMap((id) => tables.tax_id.get(id) ?? []).reverse() as WireObject[]
}

/** What a checkout session sells. */
export function checkoutItems(sessionId: string, tables: Tables): WireObject[] {
  const session = tables['checkout.session'].get(sessionId)
  return (session?.$.items ?? []).flatMap((item, at) => {
    const price = tables.price.get(item.price)
    if (!price) return []
    const plain = (price.unit_amount ?? 0) * (item.quantity ?? 0)
    const amounts = item.amounts ?? { subtotal: plain, discount: 0, tax: 0, total: plain }
    return [
      {
        id: itemId(sessionId, at),
        object: 'item',
        adjustable_quantity: item.adjustable ? { enabled: true, ...item.adjustable } : null,
        amount_discount: amounts.discount,
        amount_subtotal: amounts.subtotal,
        amount_tax: amounts.tax,
        amount_total: amounts.total,
        currency: session?.currency ?? price.currency,
        description: tables.product.get(price.product)?.name ?? null,
        metadata: item.metadata ?? {},
        price: render('price', price, tables),
        quantity: item.quantity,
      },
    ]
  })
}

export function inlineList(data: WireObject[], url: string): WireObject {
  return { object: 'list', data, has_more: false, url } as unknown as WireObject
}

/** Where expanded objects come from, and how the caller's version knows them. */
interface Source {
  readonly tables: Tables
  readonly shape: Shape | null
  /** How long the list is that is answered. */
  readonly total?: () => number
}

/** Replaces ids by objects along each path, or refuses the path. At most four levels, as Stripe. */
export function expand(response: object, paths: readonly string[], source: Source): void {
  for (const path of paths) {
    const segments = path.split('.')
    if (segments.length > 4) {
      throw invalidRequest(
        `You cannot expand more than 4 levels of a property. Property: ${path}`,
        'expand',
        'property_expansion_max_depth',
      )
    }
    expandPath(response as Record<string, unknown>, null, segments, path, source)
  }
}

/** Where a nested part stands: the object it is in, and the path to it from there. */
interface Place {
  readonly kind: string
  readonly path: string
  /** The object itself. */
  readonly owner: Record<string, unknown>
}

function expandPath(
  holder: Record<string, unknown>,
  place: Place | null,
  segments: readonly string[],
  path: string,
  source: Source,
): void {
  const [field, ...rest] = segments
  if (field === undefined) return
  const kind = place?.kind ?? kindOf(holder)
  if (kind === 'list' || kind === 'search_result') {
    if (source.shape?.expandable('list').includes(path)) {
      holder[field] = source.total?.()
      return
    }
    if (field !== 'data') throw cannotExpand(path)
    for (const item of holder.data as Array<Record<string, unknown>>) {
      expandPath(item, null, rest, path, source)
    }
    return
  }
  const owner = place?.owner ?? holder
  const within = { kind, path: place ? `${place.path}.${field}` : field, owner }
  expandField(holder, field, within, path, source)
  const values = Array.isArray(holder[field]) ? (holder[field] as unknown[]) : [holder[field]]
  for (const value of values) {
    if (!isRecord(value)) continue
    expandPath(value, typeof value.object === 'string' ? null : within, rest, path, source)
  }
}

/** Fills or replaces one field, or refuses it. */
function expandField(
  holder: Record<string, unknown>,
  field: string,
  within: Place,
  path: string,
  source: Source,
): void {
  const includes = INCLUDES[within.kind] ?? {}
  const include = includes[within.path]
  if (include && holder[field] === undefined) {
    const value = include(within.owner as WireObject, source.tables)
    if (value !== undefined) holder[field] = asKnown(value, source)
  }
  const today = KINDS[within.kind]?.expandable ?? []
  const expandable = source.shape ? [...today, ...source.shape.expandable(within.kind)] : today
  const value = holder[field]
  const known =
    include !== undefined ||
    Object.keys(includes).some((each) => each.startsWith(`${within.path}.`)) ||
    expandable.some((each) => each === within.path || each.startsWith(`${within.path}.`)) ||
    (isRecord(value) && typeof value.object === 'string')
  if (!known) throw cannotExpand(path)
  // A card is a payment method everywhere but here.
  const card =
    field === 'default_source' ? source.tables.payment_method.get(String(value)) : undefined
  holder[field] = card
    ? asKnown(copyJson(toCard(card)), source)
    : expandValue(value, expandable.includes(within.path), source)
}

function asKnown(value: unknown, { shape }: Source): unknown {
  return shape && typeof value === 'object' && value !== null ? shape.takeBack(value) : value
}

function expandValue(value: unknown, expandable: boolean, source: Source): unknown {
  if (!expandable) return value
  if (Array.isArray(value)) return value.map((each) => expandValue(each, true, source))
  if (typeof value !== 'string') return value
  return asKnown(findById(value, source.tables), source) ?? value
}

const PREFIXES: ReadonlyArray<readonly [string, Kind]> = [
  ['cus_', 'customer'],
  ['pm_', 'payment_method'],
  ['card_', 'payment_method'],
  ['sub_sched_', 'subscription_schedule'],
  ['sub_', 'subscription'],
  ['in_', 'invoice'],
  ['pi_', 'payment_intent'],
  ['ch_', 'charge'],
  ['seti_', 'setup_intent'],
  ['prod_', 'product'],
  ['price_', 'price'],
  ['di_', 'discount'],
  ['promo_', 'promotion_code'],
  ['txr_', 'tax_rate'],
  ['re_', 'refund'],
  ['txn_', 'balance_transaction'],
  ['cbtxn_', 'customer_balance_transaction'],
  ['cn_', 'credit_note'],
  ['du_', 'dispute'],
  ['txi_', 'tax_id'],
  ['clock_', 'test_helpers.test_clock'],
  ['bpc_', 'billing_portal.configuration'],
  ['cs_', 'checkout.session'],
]

/** Any object by its id; coupons, products and prices may have ids of the user's choice. */
function findById(id: string, tables: Tables): WireObject | null {
  const kind = PREFIXES.find(([prefix]) => id.startsWith(prefix))?.[1]
  const kinds: readonly Kind[] = [...(kind ? [kind] : []), 'coupon', 'product', 'price']
  for (const each of kinds) {
    const row = tables[each].get(id)
    if (row) return copyJson(render(each, row as never, tables))
  }
  return null
}

function kindOf(holder: Record<string, unknown>): string {
  return typeof holder.object === 'string' ? holder.object : ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cannotExpand(path: string) {
  return invalidRequest(`This property cannot be expanded (${path}).`, 'expand')
}
