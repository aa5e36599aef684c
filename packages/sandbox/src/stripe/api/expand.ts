import { copyJson } from '../../core/store/copy-json.ts'
import { renderCurrencyOptions } from '../catalog/currency-options.ts'
import { listCustomerCards, renderLegacyCard } from '../payments/cards.ts'
import { renderCustomerTax } from '../payments/tax-location.ts'
import { renderRow } from '../state/render.ts'
import type { CheckoutParts, CheckoutSessionRow, RowKind, StripeRows } from '../state/rows.ts'
import type { StripeTables } from '../state/tables.ts'
import type { VersionConverter } from '../versions/shape.ts'
import { KINDS } from '../wire/contract.generated.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** Builds a field that is only sent when expanded. */
type RenderExpansion = (object: WireObject, tables: StripeTables) => unknown

const INCLUDES: Readonly<Record<string, Readonly<Record<string, RenderExpansion>>>> = {
  customer: {
    subscriptions: listWithin('subscription', 'customer', {
      url: (id) => `/v1/customers/${id}/subscriptions`,
      keep: ({ status }) => status !== 'canceled' && status !== 'incomplete_expired',
    }),
    sources: ({ id }, tables) =>
      buildInlineList(
        listCustomerCards({ tables }, id).reverse().map(renderLegacyCard),
        `/v1/customers/${id}/sources`,
      ),
    tax_ids: ({ id }, tables) =>
      buildInlineList(listCustomerTaxIds(id, tables), `/v1/customers/${id}/tax_ids`),
    tax: ({ id }, tables) => {
      const customer = tables.customer.get(id)
      return customer && renderCustomerTax(tables, customer)
    },
  },
  invoice: {
    payments: listWithin('invoice_payment', 'invoice', { url: () => '/v1/invoice_payments' }),
    confirmation_secret: (object, tables) => {
      const intent = tables.payment_intent.get(tables.invoice.get(object.id)?.$.paymentIntent ?? '')
      if (!intent?.client_secret || intent.status === 'canceled') return null
      return { client_secret: intent.client_secret, type: 'payment_intent' }
    },
  },
  charge: {
    refunds: listWithin('refund', 'charge', { url: (id) => `/v1/charges/${id}/refunds` }),
  },
  price: {
    currency_options: (object, tables) => {
      const price = tables.price.get(object.id)
      return price ? renderCurrencyOptions(price) : undefined
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
      buildInlineList(
        renderCheckoutItems(object.id, tables),
        `/v1/checkout/sessions/${object.id}/line_items`,
      ),
    'total_details.breakdown': (object, tables) => {
      const session = tables['checkout.session'].get(object.id)
      return session ? renderParts(session, session.$.parts, tables) : undefined
    },
  },
  item: {
    discounts: (object, tables) => findItemParts(object.id, tables)?.discounts,
    taxes: (object, tables) => findItemParts(object.id, tables)?.taxes,
  },
}

/** Lists the rows that refer to an object, newest first. */
function listWithin<K extends RowKind>(
  kind: K,
  index: string,
  {
    url,
    keep = () => true,
  }: { url: (id: string) => string; keep?: (row: StripeRows[K]) => boolean },
): RenderExpansion {
  return ({ id }, tables) => {
    const rows = (tables[kind].findBy(index, id) as StripeRows[K][]).filter(keep).reverse()
    return buildInlineList(
      rows.map((row) => renderRow(kind, row, tables)),
      url(id),
    )
  }
}

/**
 * Renders the discounts and taxes of a checkout session or of one item. `undefined` if they were
 * never computed.
 */
function renderParts(
  session: CheckoutSessionRow,
  parts: CheckoutParts | undefined,
  tables: StripeTables,
) {
  if (!parts) return undefined
  return {
    discounts: parts.discounts.map(({ amount, discount: id }) => {
      const row = tables.discount.get(id) ?? session.$.discounts?.[id]
      return { amount, discount: row ? renderRow('discount', row, tables) : null }
    }),
    taxes: parts.taxes.map(({ rate: id, ...tax }) => {
      const rate = tables.tax_rate.get(id)
      return { ...tax, rate: rate ? renderRow('tax_rate', rate, tables) : null }
    }),
  }
}

function findItemParts(id: string, tables: StripeTables) {
  for (const session of tables['checkout.session'].newestFirst()) {
    const at = session.$.items.findIndex((_item, index) => itemId(session.id, index) === id)
    if (at >= 0) return renderParts(session, session.$.items[at]?.amounts?.parts, tables)
  }
  return undefined
}

function itemId(sessionId: string, at: number): string {
  return `li_${sessionId.slice(-20)}${at}`
}

function listCustomerTaxIds(customer: string, tables: StripeTables): WireObject[] {
  const ids = tables.customer.get(customer)?.$.taxIds ?? []
  return ids.flatMap((id) => tables.tax_id.get(id) ?? []).reverse() as WireObject[]
}

/** Returns the line items of a checkout session as the API renders them. */
export function renderCheckoutItems(sessionId: string, tables: StripeTables): WireObject[] {
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
        price: renderRow('price', price, tables),
        quantity: item.quantity,
      },
    ]
  })
}

export function buildInlineList(data: WireObject[], url: string): WireObject {
  return { object: 'list', data, has_more: false, url } as unknown as WireObject
}

/** Tables with the objects to expand, and the API version to render them for. */
interface Source {
  readonly tables: StripeTables
  readonly shape: VersionConverter | null
  /** Total number of rows of the list in the response, on all pages. */
  readonly total?: () => number
}

/**
 * Replaces ids in a response by objects, along each of the `expand` paths, up to four levels deep
 * as at Stripe.
 * @throws {StripeFault} If a path cannot be expanded.
 */
export function expandObjects(response: object, paths: readonly string[], source: Source): void {
  for (const path of paths) {
    const segments = path.split('.')
    if (segments.length > 4) {
      throw createInvalidRequestFault(
        `You cannot expand more than 4 levels of a property. Property: ${path}`,
        'expand',
        'property_expansion_max_depth',
      )
    }
    expandPath(response as Record<string, unknown>, null, segments, path, source)
  }
}

/** Position of a nested object: the object that contains it, and the path from there. */
interface Place {
  readonly kind: string
  readonly path: string
  /** The containing object. */
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
  const kind = place?.kind ?? (typeof holder.object === 'string' ? holder.object : '')
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

/**
 * Fills in or replaces one field.
 * @throws {StripeFault} If the field cannot be expanded.
 */
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
    if (value !== undefined) holder[field] = toCallersVersion(value, source)
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
  // Stored as a payment method, but expanded as a `card` object in this field.
  const card =
    field === 'default_source' ? source.tables.payment_method.get(String(value)) : undefined
  holder[field] = card
    ? toCallersVersion(copyJson(renderLegacyCard(card)), source)
    : expandValue(value, field, expandable.includes(within.path) ? source : null)
}

function toCallersVersion(value: unknown, { shape }: Source): unknown {
  return shape && typeof value === 'object' && value !== null ? shape.downgrade(value) : value
}

function expandValue(value: unknown, field: string, source: Source | null): unknown {
  if (source === null) return value
  if (Array.isArray(value)) return value.map((each) => expandValue(each, field, source))
  if (typeof value !== 'string') return value
  return toCallersVersion(findById(value, field, source.tables), source) ?? value
}

/**
 * Finds an object of any kind by its id. Tries the kind with the field's name first, because some
 * ids are chosen by users and can exist in several kinds.
 */
function findById(id: string, field: string, tables: StripeTables): WireObject | null {
  for (const kind of [field, ...Object.keys(KINDS)] as RowKind[]) {
    const row = Object.hasOwn(tables, kind) ? tables[kind].get(id) : undefined
    if (row) return copyJson(renderRow(kind, row as never, tables))
  }
  return null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cannotExpand(path: string) {
  return createInvalidRequestFault(`This property cannot be expanded (${path}).`, 'expand')
}
