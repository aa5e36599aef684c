import { VERSIONED_OBJECT_KINDS } from '../../braintree/state/context.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { StoreTable } from '../../core/store/table.ts'
import { renderRow } from '../../stripe/state/render.ts'
import type { RowKind, StripeRows } from '../../stripe/state/rows.ts'
import { listMerchants } from './merchants.ts'
import type { ObservedSandbox } from './observed-sandbox.ts'

export interface FoundObject {
  readonly provider: 'stripe' | 'braintree'
  /** Id of the Braintree merchant that has the object. `null` if there is only one merchant. */
  readonly merchant: string | null
  /** Kind of the object, such as `invoice` at Stripe or `subscriptions` at Braintree. */
  readonly kind: string
  readonly id: string
  /**
   * The present object: in the format of the API at Stripe, in the format of the sandbox at
   * Braintree.
   */
  readonly object: Readonly<Record<string, unknown>>
}

/**
 * Finds the object with this id, at the given Braintree merchant or, for `null`, at any provider.
 * Returns `null` if there is none.
 */
export function findObject(
  sandbox: ObservedSandbox,
  id: string,
  merchant: string | null = null,
): FoundObject | null {
  return (merchant === null ? atStripe(sandbox, id) : null) ?? atBraintree(sandbox, id, merchant)
}

function atStripe({ stripe }: ObservedSandbox, id: string): FoundObject | null {
  const tables = stripe?.context.tables
  for (const kind of Object.keys(tables ?? {}) as RowKind[]) {
    if (!tables || kind === 'event') continue
    const row = tables[kind].get(id) as StripeRows[typeof kind] | undefined
    if (!row) continue
    const object = copyJson(renderRow(kind, row, tables))
    return { provider: 'stripe', merchant: null, kind, id, object }
  }
  return null
}

function atBraintree(
  sandbox: ObservedSandbox,
  id: string,
  merchant: string | null,
): FoundObject | null {
  for (const { name, context } of listMerchants(sandbox)) {
    if (merchant !== null && merchant !== name) continue
    for (const kind of VERSIONED_OBJECT_KINDS) {
      const row = (context.tables[kind] as unknown as StoreTable<object>).get(id)
      const object = row && { ...copyJson(row) }
      if (object) return { provider: 'braintree', merchant: name, kind, id, object }
    }
  }
  return null
}
