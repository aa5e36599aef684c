import { randomBytes } from 'node:crypto'
import { isUniqueViolation } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { defineError } from '../service-error.ts'
import {
  type LinkedIdentityRow,
  linkedIdentityTable,
  type ServiceDatabase,
} from '../storage/tables.ts'

/** An account at another provider that a person signs in with. */
export interface LinkedIdentity {
  readonly id: string
  readonly userId: string
  /** Id of the provider in the setting `signInWith`. */
  readonly provider: string
  /** Identifies the person at the provider. */
  readonly subject: string
  /** The person's address at the provider when the account was linked. `null` if it was unknown. */
  readonly email: string | null
  readonly createdAt: Date
  /** When the person last signed in with the linked account. */
  readonly usedAt: Date
}

/** An account at another provider, before it is linked. */
export type NewIdentity = Pick<LinkedIdentity, 'provider' | 'subject' | 'email'>

/** Thrown if the account at the other provider is linked with another account of this service. */
export class IdentityTaken extends defineError(
  'conflict',
  'This account at the other provider is already linked with another account.',
) {}

/** Thrown if a person could not sign in any more without this link. Nothing was changed. */
export class LastWayToSignIn extends defineError(
  'conflict',
  'This is the only way to sign in to the account. Set a password first.',
) {}

export interface LinkedIdentities {
  find(provider: string, subject: string): Promise<LinkedIdentity | null>
  /** Lists the links of a person, oldest first. */
  list(userId: string): Promise<LinkedIdentity[]>
  /**
   * Links an account at another provider with a person.
   * @throws IdentityTaken if it is linked already, also with the same person.
   */
  add(userId: string, identity: NewIdentity): Promise<void>
  /**
   * Links an account at another provider with a person. Idempotent. Must not be called inside a
   * transaction: `store` runs the write in one.
   * @throws IdentityTaken
   */
  link(
    userId: string,
    identity: NewIdentity,
    store?: (write: () => Promise<void>) => Promise<void>,
  ): Promise<void>
  /** Records that the person signed in with the linked account. */
  recordUse(id: string): Promise<void>
  /**
   * Removes a link of a person, and returns it. `null` if the person has no such link. `usable` lists
   * the providers that people can sign in with at present.
   * @throws LastWayToSignIn
   */
  unlink(userId: string, id: string, usable: readonly string[]): Promise<LinkedIdentity | null>
}

export function createLinkedIdentities(database: ServiceDatabase, clock: Clock): LinkedIdentities {
  const select = (on = database) => on.kysely.selectFrom('linked_identities').selectAll()
  const find: LinkedIdentities['find'] = async (provider, subject) => {
    const row = await select()
      .where('provider', '=', provider)
      .where('subject', '=', subject)
      .executeTakeFirst()
    return row ? fromRow(row) : null
  }
  const add: LinkedIdentities['add'] = async (userId, { provider, subject, email }) => {
    const now = clock.now()
    const row = linkedIdentityTable.toRow({
      id: randomBytes(12).toString('base64url'),
      userId: Number(userId),
      provider,
      subject,
      email,
      createdAt: now,
      usedAt: now,
    })
    try {
      await database.kysely.insertInto('linked_identities').values(row).execute()
    } catch (error) {
      throw isUniqueViolation(error) ? new IdentityTaken() : error
    }
  }
  return {
    find,
    async list(userId) {
      const rows = await select()
        .where('user_id', '=', Number(userId))
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map(fromRow)
    },
    add,
    async link(userId, identity, store = (write) => write()) {
      try {
        await store(() => add(userId, identity))
      } catch (error) {
        if (!(error instanceof IdentityTaken)) throw error
        if ((await find(identity.provider, identity.subject))?.userId !== userId) throw error
      }
    },
    async recordUse(id) {
      await database.kysely
        .updateTable('linked_identities')
        .set(linkedIdentityTable.toChange({ usedAt: clock.now() }))
        .where('id', '=', id)
        .execute()
    },
    // One at a time, because a person who removes two links at once must keep one.
    unlink: (userId, id, usable) =>
      database.exclusively(`links of ${userId}`, async (tx) => {
        const rows = await select(tx).where('user_id', '=', Number(userId)).execute()
        const link = rows.find((row) => row.id === id)
        if (!link) return null
        const user = await tx.kysely
          .selectFrom('users')
          .select('password_hash')
          .where('id', '=', Number(userId))
          .executeTakeFirst()
        const ways = rows.filter(({ provider }) => usable.includes(provider))
        const isLast = ways.length === 1 && ways[0]?.id === id && !user?.password_hash
        if (isLast) throw new LastWayToSignIn()
        await tx.kysely.deleteFrom('linked_identities').where('id', '=', id).execute()
        return fromRow(link)
      }),
  }
}

function fromRow(row: LinkedIdentityRow): LinkedIdentity {
  const { userId, ...rest } = linkedIdentityTable.fromRow(row)
  return { ...rest, userId: String(userId) }
}
