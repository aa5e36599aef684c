import type { Database } from '@tollgate/database'
import type { Owner } from '../values/owner.ts'
import type { ProviderName } from '../values/provider-name.ts'
import type { TaxTerms } from '../values/tax.ts'
import { buildOwnerCondition } from './owner-columns.ts'
import { taxTable } from './tables.ts'

/** The tax terms of a subscription's charges from `since` on, until the next terms. */
export interface DatedTaxTerms extends TaxTerms {
  readonly provider: ProviderName
  readonly subscriptionId: string
  readonly since: Date
}

export interface TaxRepository {
  /** Finds the newest tax terms of a subscription. `null` if none are stored. */
  find(provider: ProviderName, subscriptionId: string): Promise<TaxTerms | null>
  /** Lists the tax terms of all subscriptions of the owner, oldest first. */
  listByOwner(owner: Owner): Promise<DatedTaxTerms[]>
  save(terms: DatedTaxTerms, tx: Database): Promise<void>
}

type Row = ReturnType<typeof taxTable.toRow>

const terms = taxTable.pick('tax', 'net')

export function createTaxRepository({ kysely }: Database): TaxRepository {
  return {
    async find(provider, subscriptionId) {
      const row = await kysely
        .selectFrom('billing_taxes')
        .select(terms.columns)
        .where('provider', '=', provider)
        .where('provider_id', '=', subscriptionId)
        .orderBy('since', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? terms.fromRow(row as Pick<Row, 'tax' | 'net'>) : null
    },
    async listByOwner(owner) {
      const rows = await kysely
        .selectFrom('billing_taxes as taxes')
        .innerJoin('subscriptions as owned', (join) =>
          join
            .onRef('owned.provider', '=', 'taxes.provider')
            .onRef('owned.provider_id', '=', 'taxes.provider_id'),
        )
        .select(taxTable.columns.map((column) => `taxes.${column}`))
        .where(buildOwnerCondition(owner, 'owned'))
        .orderBy('taxes.since')
        .execute()
      return (rows as Row[]).map(fromRow)
    },
    async save({ subscriptionId, ...dated }, tx) {
      const row = taxTable.toRow({ providerId: subscriptionId, ...dated })
      const updated = await tx.kysely
        .updateTable('billing_taxes')
        .set({ tax: row.tax, net: row.net })
        .where('provider', '=', row.provider)
        .where('provider_id', '=', row.provider_id)
        .where('since', '=', row.since)
        .executeTakeFirst()
      if (Number(updated.numUpdatedRows) > 0) return
      await tx.kysely.insertInto('billing_taxes').values(row).execute()
    },
  }
}

function fromRow(row: Row): DatedTaxTerms {
  const { providerId, ...dated } = taxTable.fromRow(row)
  return { ...dated, subscriptionId: providerId }
}
