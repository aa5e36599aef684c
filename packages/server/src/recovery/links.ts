import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@tollgate/oauth'
import { defineError } from '../service-error.ts'
import {
  accountLinkTable,
  deleteInBatches,
  type ServiceDatabase,
  type UserRow,
} from '../storage/tables.ts'

/** The purpose of a link in mail. A link works only on the page for its purpose. */
export type LinkPurpose = 'reset' | 'verify' | 'change' | 'register' | 'invite'

/** Seconds for which a link works, counted from each attempt to send its mail. */
export const LINK_LIFETIME: Readonly<Record<LinkPurpose, number>> = {
  reset: 30 * 60,
  verify: 24 * 3600,
  change: 3600,
  register: 24 * 3600,
  invite: 7 * 24 * 3600,
}

export type AccountLink = ReturnType<typeof accountLinkTable.fromRow>

/** A link that works at present, with the account that it is for. */
export interface OpenLink {
  readonly link: AccountLink
  /** The account that the link is for. `null` for a link that creates an account. */
  readonly user: UserRow | null
}

/** Thrown if a link was used, has expired, or does not fit the state of the account. */
export class LinkUnusable extends defineError('conflict', 'This link does not work any more') {}

export interface NewLink {
  readonly id: string
  readonly purpose: LinkPurpose
  readonly userId: number | null
  readonly address: string
  readonly details: AccountLink['details']
  readonly binding: string | null
}

export interface AccountLinks {
  /**
   * Stores a link, or extends it if it was stored before and not used. Returns the token for the
   * URL, which is never stored: it is the id and an HMAC of it with the service's secret.
   */
  issue(link: NewLink): Promise<string>
  /**
   * Derives the tokens that the link of a team's invitation may have, one for each secret of the
   * service, the present one first. Only `id` is stored, which does not reveal the token.
   */
  deriveInvitationTokens(id: string): readonly string[]
  /**
   * Finds a link that works at present, without using it up. `null` for any other token. Tokens
   * with a wrong HMAC cause no query.
   */
  find(purposes: readonly LinkPurpose[], token: string): Promise<OpenLink | null>
  /**
   * Uses a link up. Call it in the transaction of the change that the link is for.
   * @throws LinkUnusable if it was used or has expired meanwhile.
   */
  consume(link: AccountLink): Promise<void>
  purge(): Promise<number>
}

/** A random id for a link. */
export const createLinkId = () => randomBytes(16).toString('base64url')

/**
 * Identifies the state of an account that a link is bound to: its address and its password. The
 * link ends when either changes. The hash of the password is salted, so that its digest says
 * nothing about the password.
 */
export function computeAccountBinding(
  user: Pick<UserRow, 'id' | 'email_key' | 'password_hash'>,
): string {
  const state = JSON.stringify([user.id, user.email_key, user.password_hash])
  return createHash('sha256').update(state).digest('base64url')
}

export function createAccountLinks(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  /** The first secret makes new links, all are accepted. */
  readonly secrets: readonly string[]
}): AccountLinks {
  const { clock, database } = options
  const keys = options.secrets.map((secret) =>
    createHmac('sha256', secret).update('tollgate account links').digest(),
  )
  const tagOf = (key: Buffer, purpose: string, id: string) =>
    createHmac('sha256', key).update(`${purpose} ${id}`).digest('base64url')

  function readToken(purposes: readonly LinkPurpose[], token: string): string | null {
    const [, id = '', tag = ''] = /^([\w-]{22})\.([\w-]{43})$/.exec(token) ?? []
    const given = Buffer.from(tag)
    const isGenuine = purposes.some((purpose) =>
      keys.some((key) => {
        const expected = Buffer.from(tagOf(key, purpose, id))
        return given.length === expected.length && timingSafeEqual(given, expected)
      }),
    )
    return isGenuine ? id : null
  }

  return {
    async issue({ id, purpose, userId, address, details, binding }) {
      const [key] = keys
      if (!key) throw new TypeError('Links need a secret')
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LINK_LIFETIME[purpose] * 1000)
      const { numUpdatedRows } = await database.kysely
        .updateTable('account_links')
        .set({ expires_at: expiresAt.getTime() })
        .where('id', '=', id)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) {
        const row = accountLinkTable.toRow({
          ...{ id, purpose, userId, address, details, binding, expiresAt },
          createdAt: now,
          usedAt: null,
        })
        await database.kysely.insertInto('account_links').values(row).execute()
      }
      return `${id}.${tagOf(key, purpose, id)}`
    },
    deriveInvitationTokens: (id) => keys.map((key) => tagOf(key, 'team invitation', id)),
    async find(purposes, token) {
      const id = readToken(purposes, token)
      if (id === null) return null
      const row = await database.kysely
        .selectFrom('account_links')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row || row.used_at !== null || row.expires_at <= clock.now().getTime()) return null
      const link = accountLinkTable.fromRow(row)
      if (!purposes.some((purpose) => purpose === link.purpose)) return null
      if (link.userId === null) return { link, user: null }
      const user = await database.kysely
        .selectFrom('users')
        .selectAll()
        .where('id', '=', link.userId)
        .executeTakeFirst()
      if (!user || user.disabled_at !== null || computeAccountBinding(user) !== link.binding)
        return null
      return { link, user }
    },
    async consume({ id }) {
      const now = clock.now().getTime()
      const { numUpdatedRows } = await database.kysely
        .updateTable('account_links')
        .set({ used_at: now })
        .where('id', '=', id)
        .where('used_at', 'is', null)
        .where('expires_at', '>', now)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new LinkUnusable()
    },
    async purge() {
      const before = (clock.settled?.() ?? clock.now()).getTime() - KEPT_MS
      return deleteInBatches(database, {
        table: 'account_links',
        key: 'id',
        where: (eb) => eb('expires_at', '<=', before),
      })
    },
  }
}

/** A retry of a mail may extend its link, so an expired one is kept for a while. */
const KEPT_MS = 24 * 3600 * 1000
