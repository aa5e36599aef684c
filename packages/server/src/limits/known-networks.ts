import { upsert } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { deleteInBatches, type ServiceDatabase } from '../storage/tables.ts'

/**
 * Remembers the networks from which each account was used successfully. Attempts from other
 * networks do not block sign-ins from these.
 */
export interface KnownNetworks {
  isKnown(account: string, network: string): Promise<boolean>
  remember(account: string, network: string): Promise<void>
  purge(): Promise<number>
}

const DAY = 24 * 3600 * 1000
/** Number of days for which a network is remembered after its last successful use. */
export const KNOWN_NETWORK_DAYS = 90
/**
 * Maximum number of networks remembered for each account. The network that was unused for longest
 * is dropped first.
 */
export const MAX_KNOWN_NETWORKS = 50
/** Milliseconds between updates of a row, to avoid a write on each success. */
const UPDATE_INTERVAL = DAY

export function createKnownNetworks(database: ServiceDatabase, clock: Clock): KnownNetworks {
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
      .offset(MAX_KNOWN_NETWORKS)
      .execute()
    if (surplus.length === 0) return
    const names = surplus.map(({ name }) => name)
    await database.kysely.deleteFrom('known_networks').where('name', 'in', names).execute()
  }

  return {
    isKnown: async (account, network) => (await usedAt(account, network)) !== null,
    async remember(account, network) {
      const before = await usedAt(account, network)
      if (before !== null && before + UPDATE_INTERVAL > now()) return
      const row = { name: nameOf(account, network), account, used_at: now() }
      await upsert(database, 'known_networks', row, ['name'])
      if (before === null) await dropOldest(account)
    },
    async purge() {
      const settled = clock.settled?.() ?? clock.now()
      const before = settled.getTime() - KNOWN_NETWORK_DAYS * DAY
      return deleteInBatches(database, {
        table: 'known_networks',
        key: 'name',
        where: (eb) => eb('used_at', '<=', before),
      })
    },
  }
}
