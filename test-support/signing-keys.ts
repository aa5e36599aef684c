import type { Database } from '@tollgate/database'
import {
  clientCredentials,
  createAuthorizationServer,
  type Feature,
  kyselyStorage,
  type SigningAlgorithm,
  type StoredKey,
} from '@tollgate/oauth'

export interface KeySettings {
  readonly secret: string
  /** The time from which the keys sign. */
  readonly now: Date
  readonly signingAlgorithm: SigningAlgorithm | undefined
  readonly features: readonly Feature[] | undefined
}

const made = new Map<string, Promise<readonly StoredKey[]>>()

/**
 * Stores the signing keys that a server on this new database will need, as if it had run before.
 * Generating an RSA key takes a third of a second, and most tests with openid() start their own
 * server.
 */
export async function insertSigningKeys(database: Database, settings: KeySettings): Promise<void> {
  const { secret, now, signingAlgorithm = 'ES256', features = [] } = settings
  const all = features.flatMap((feature) => [feature, ...(feature.includes ?? [])])
  const more = all.flatMap(({ algorithms = [] }) => algorithms)
  if (![signingAlgorithm, ...more].includes('RS256')) return
  const name = [secret, signingAlgorithm, ...new Set(more)].join(' ')
  const keys = made.get(name) ?? makeKeys(database, settings, more)
  made.set(name, keys)
  const repository = kyselyStorage(database).keys
  for (const key of await keys) {
    await repository.addFirst(key.algorithm, async () => ({
      ...key,
      createdAt: now,
      activeFrom: now,
    }))
  }
}

/** Generates keys as a server does at its first start. */
async function makeKeys(
  database: Database,
  { secret, now, signingAlgorithm }: KeySettings,
  algorithms: readonly SigningAlgorithm[],
): Promise<readonly StoredKey[]> {
  const server = createAuthorizationServer({
    issuer: 'http://localhost',
    secret,
    database,
    users: { findById: () => null, fromRequest: () => null },
    scopes: {},
    grants: [clientCredentials()],
    clock: { now: () => now },
    features: [{ name: 'keys', algorithms }],
    ...(signingAlgorithm && { signingAlgorithm }),
  })
  await server.ready()
  server.close()
  return kyselyStorage(database).keys.list()
}
