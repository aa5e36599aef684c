import { copyJson } from '../../core/store/copy-json.ts'
import type { Table } from '../../core/store/table.ts'
import { render } from '../../stripe/state/render.ts'
import type { Kind, Rows } from '../../stripe/state/rows.ts'
import type { Watched } from './watched.ts'

export interface FoundObject {
  readonly provider: 'stripe' | 'braintree'
  /** `invoice`, `subscriptions` … */
  readonly kind: string
  readonly id: string
  /** As it is now: at Stripe as the API sends it, at Braintree as the sandbox keeps it. */
  readonly object: Readonly<Record<string, unknown>>
}

/** Whatever has this id, at either provider. */
export function findObject({ stripe, braintree }: Watched, id: string): FoundObject | null {
  const tables = stripe?.context.tables
  for (const kind of Object.keys(tables ?? {}) as Kind[]) {
    if (!tables || kind === 'event') continue
    const row = tables[kind].get(id) as Rows[typeof kind] | undefined
    if (!row) continue
    return { provider: 'stripe', kind, id, object: copyJson(render(kind, row, tables)) }
  }
  for (const kind of BRAINTREE) {
    const row = (braintree?.context.tables[kind] as Table<object> | undefined)?.get(id)
    if (row) return { provider: 'braintree', kind, id, object: { ...copyJson(row) } }
  }
  return null
}

const BRAINTREE = [
  'customers',
  'paymentMethods',
  'subscriptions',
  'transactions',
  'plans',
  'modifications',
] as const
