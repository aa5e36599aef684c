import type { Database } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'
import type { TaxTerms } from '../values/tax.ts'

/** Those of charges from that moment on, until the next ones of the same subscription. */
export interface DatedTaxTerms extends TaxTerms {
  readonly provider: ProviderName
  readonly subscriptionId: string
  readonly since: Date
}

export interface TaxRepository {
  /** The newest of a subscription. */
  find(provider: ProviderName, subscriptionId: string): Promise<TaxTerms | null>
  /** Of all subscriptions of the user, oldest first. */
  listByUser(userId: string | number): Promise<DatedTaxTerms[]>
  save(terms: DatedTaxTerms, tx: Database): Promise<void>
}

interface Row {
  provider: string
  provider_id: string
  since: number
  tax: number
  net: number
}

export function taxRepository({ kysely }: Database): TaxRepository {
  return {
    async find(provider, subscriptionId) {
      const row = await kysely
        .selectFrom('billing_taxes')
        .select(['tax', 'net'])
        .where('provider', '=', provider)
        .where('provider_id', '=', subscriptionId)
        .orderBy('since', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? { tax: Number(row.tax), net: Number(row.net) } : null
    },
    async listByUser(userId) {
      const rows: Row[] = await kysely
        .selectFrom('billing_taxes as taxes')
        .innerJoin('subscriptions as owned', (join) =>
          join
            .onRef('owned.provider', '=', 'taxes.provider')
            .onRef('owned.provider_id', '=', 'taxes.provider_id'),
        )
        .select(['taxes.provider', 'taxes.provider_id', 'taxes.since', 'taxes.tax', 'taxes.net'])
        .where('owned.user_id', '=', userId)
        .orderBy('taxes.since')
        .execute()
      return rows.map(fromRow)
    },
    async save({ provider, subscriptionId, since, tax, net }, tx) {
      const key = { provider, provider_id: subscriptionId, since: since.getTime() }
      const updated = await tx.kysely
        .updateTable('billing_taxes')
        .set({ tax, net })
        .where('provider', '=', key.provider)
        .where('provider_id', '=', key.provider_id)
        .where('since', '=', key.since)
        .executeTakeFirst()
      if (Number(updated.numUpdatedRows) > 0) return
      await tx.kysely
        .insertInto('billing_taxes')
        .values({ ...key, tax, net })
        .execute()
    },
  }
}

function fromRow({ provider, provider_id, since, tax, net }: Row): DatedTaxTerms {
  return {
    provider: provider as ProviderName,
    subscriptionId: provider_id,
    since: new Date(Number(since)),
    tax: Number(tax),
    net: Number(net),
  }
}
