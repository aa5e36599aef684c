import { type Database, deleteBatch, upsert } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import type { ServiceTables } from '../storage/tables.ts'

/**
 * From which networks an account was used with success. What strangers do elsewhere does not stop
 * whoever comes from one of these.
 */
export interface KnownNetworks {
  isKnown(account: string, network: string): Promise<boolean>
  remember(account: string, network: string): Promise<void>
  purge(): Promise<number>
}

const DAY = 24 * 3600 * 1000
/** Counted from the last success. */
export const KNOWN_NETWORK_DAYS = 90
/** Of one account; the one unused for longest makes room. */
export const KNOWN_NETWORKS_KEPT = 50
/** A success each minute is not worth a write each minute. */
const NOTED_EVERY = DAY
const PURGED_AT_ONCE = 500

export function createKnownNetworks(plain: Database, clock: Clock): KnownNetworks {
  const database = plain as unknown as Database<ServiceTables>
  const now = () => clock.now().getTime()
  const nameOf = (account: string, network: string) => `${account}@${network}`
  const find = database.statement<{ name: string; since: number }, { used_at: number }>(
    (db, param) =>
      db
        .selectFrom('known_networks')
        .select('used_at')
        .where('name', '=', param('name'))
        .where('used_at', '>', param('since')),
  )
  async function usedAt(account: string, network: string): Promise<number | null> {
    const since = now() - KNOWN_NETWORK_DAYS * DAY
    const [row] = (await find({ name: nameOf(account, network), since })).rows
    return row?.used_at ?? null
  }

  async function dropOldest(account: string): Promise<void> {
    const surplus = await database.kysely
      .selectFrom('known_networks')
      .select('name')
      .where('account', '=', account)
      .orderBy('used_at', 'desc')
      .orderBy('name')
      .limit(100)
      .offset(KNOWN_NETWORKS_KEPT)
      .execute()
    if (surplus.length === 0) return
    const names = surplus.map(({ name }) => name)
    await database.kysely.deleteFrom('known_networks').where('name', 'in', names).execute()
  }

  return {
    isKnown: async (account, network) => (await usedAt(account, network)) !== null,
    async remember(account, network) {
      const before = await usedAt(account, network)
      if (before !== null && before + NOTED_EVERY > now()) return
      const row = { name: nameOf(account, network), account, used_at: now() }
      await upsert(plain, 'known_networks', row, ['name'])
      if (before === null) await dropOldest(account)
    },
    async purge() {
      const settled = clock.settled?.() ?? clock.now()
      const before = settled.getTime() - KNOWN_NETWORK_DAYS * DAY
      let total = 0
      for (;;) {
        const deleted = await deleteBatch(plain, {
          table: 'known_networks',
          key: 'name',
          where: (eb) => eb('used_at', '<=', before),
          limit: PURGED_AT_ONCE,
        })
        total += deleted
        if (deleted < PURGED_AT_ONCE) return total
      }
    },
  }
}
