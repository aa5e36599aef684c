import { KINDS } from '../../braintree/state/context.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { Table } from '../../core/store/table.ts'
import { render } from '../../stripe/state/render.ts'
import type { Kind, Rows } from '../../stripe/state/rows.ts'
import { allMerchants } from './merchants.ts'
import type { Watched } from './watched.ts'

export interface FoundObject {
  readonly provider: 'stripe' | 'braintree'
  /** Id of the Braintree merchant that has the object. `null` if there is only one merchant. */
  readonly merchant: string | null
  /** Kind of object, such as `invoice` or `subscriptions`. */
  readonly kind: string
  readonly id: string
  /** The present object: as the API returns it at Stripe, as the sandbox stores it at Braintree. */
  readonly object: Readonly<Record<string, unknown>>
}

/** Finds the object with this id, at one merchant or at either provider. */
export function findObject(
  watched: Watched,
  id: string,
  merchant: string | null = null,
): FoundObject | null {
  return (merchant === null ? atStripe(watched, id) : null) ?? atBraintree(watched, id, merchant)
}

function atStripe({ stripe }: Watched, id: string): FoundObject | null {
  const tables = stripe?.context.tables
  for (const kind of Object.keys(tables ?? {}) as Kind[]) {
    if (!tables || kind === 'event') continue
    const row = tables[kind].get(id) as Rows[typeof kind] | undefined
    if (!row) continue
    const object = copyJson(render(kind, row, tables))
    return { provider: 'stripe', merchant: null, kind, id, object }
  }
  return null
}

function atBraintree(watched: Watched, id: string, merchant: string | null): FoundObject | null {
  for (const { name, context } of allMerchants(watched)) {
    if (merchant !== null && merchant !== name) continue
    for (const kind of KINDS) {
      const row = (context.tables[kind] as unknown as Table<object>).get(id)
      const object = row && { ...copyJson(row) }
      if (object) return { provider: 'braintree', merchant: name, kind, id, object }
    }
  }
  return null
}
