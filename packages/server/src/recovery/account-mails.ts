import type { Clock } from '@tollgate/oauth'
import type { AccountMailKind } from '../mail/account-mail.ts'
import { accountMailTable, type ServiceDatabase } from '../storage/tables.ts'
import { INVITATION_DAYS } from '../teams/membership.ts'
import { LINK_LIFETIME } from './links.ts'
import type { AccountMail } from './outbox.ts'

/** The states of mail about accounts. */
export const ACCOUNT_MAIL_STATES = ['pending', 'done', 'dead'] as const

/**
 * Whether mail can be sent again. `possible`: it was given up, and contains no link, or one that has
 * not expired. `link-expired` and `link-used`: it would revive a link that must stay dead.
 */
export const RETRIES = ['possible', 'waiting', 'sent', 'link-expired', 'link-used'] as const

export type AccountMailRetry = (typeof RETRIES)[number]

/** Mail about an account as operators see it: without its text, its link and its token. */
export interface ListedAccountMail
  extends Pick<AccountMail, 'id' | 'kind' | 'userId' | 'address' | 'attempts'> {
  readonly state: (typeof ACCOUNT_MAIL_STATES)[number]
  readonly dueAt: Date
  readonly createdAt: Date
  readonly finishedAt: Date | null
  readonly lastError: string | null
  readonly retry: AccountMailRetry
}

/** The queue of mail about accounts, for operators. */
export interface AccountMails {
  /** Lists the mail in a state, latest `dueAt` first. */
  page(
    state: ListedAccountMail['state'],
    page: {
      readonly limit: number
      readonly after?: { readonly id: number; readonly dueAt: Date }
    },
  ): Promise<ListedAccountMail[]>
  find(id: number): Promise<ListedAccountMail | null>
  /**
   * Makes mail due again that was given up. Its `Message-ID` stays the same. Returns `false` unless
   * `retry` of the mail is `possible`.
   */
  retry(id: number): Promise<boolean>
}

/** Seconds for which the link in each kind of mail works. Kinds that are missing contain none. */
const LIFETIMES: Partial<Record<string, number>> = {
  password_reset: LINK_LIFETIME.reset,
  address_verification: LINK_LIFETIME.verify,
  address_change: LINK_LIFETIME.change,
  registration: LINK_LIFETIME.register,
  invitation: LINK_LIFETIME.invite,
  team_invitation: INVITATION_DAYS * 24 * 3600,
} satisfies Partial<Record<AccountMailKind, number>>

export function createAccountMails(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
}): AccountMails {
  const { database, clock } = options

  async function describe(rows: Parameters<typeof accountMailTable.fromRow>[0][]) {
    const mails = rows.map((row) => accountMailTable.fromRow(row))
    const ids = mails.flatMap(({ details }) => details.link ?? [])
    const links =
      ids.length === 0
        ? []
        : await database.kysely
            .selectFrom('account_links')
            .select(['id', 'expires_at', 'used_at'])
            .where('id', 'in', ids)
            .execute()
    const now = clock.now().getTime()
    return mails.map((mail): ListedAccountMail => {
      const { id, kind, userId, address, attempts, dueAt, createdAt, finishedAt } = mail
      const state = ACCOUNT_MAIL_STATES.find((each) => each === mail.state) ?? 'pending'
      const link = links.find((each) => each.id === mail.details.link)
      return {
        ...{ id, kind, userId, address, attempts, dueAt, createdAt, finishedAt, state },
        lastError: mail.lastError,
        retry: chooseRetry({ ...mail, state }, link, now),
      }
    })
  }

  const find = async (id: number) => {
    const rows = await database.kysely
      .selectFrom('account_mails')
      .selectAll()
      .where('id', '=', id)
      .execute()
    return (await describe(rows))[0] ?? null
  }

  return {
    async page(state, { limit, after }) {
      let query = database.kysely.selectFrom('account_mails').selectAll().where('state', '=', state)
      if (after) {
        const dueAt = after.dueAt.getTime()
        query = query.where((eb) =>
          eb.or([
            eb('due_at', '<', dueAt),
            eb.and([eb('due_at', '=', dueAt), eb('id', '<', after.id)]),
          ]),
        )
      }
      return describe(
        await query.orderBy('due_at', 'desc').orderBy('id', 'desc').limit(limit).execute(),
      )
    },
    find,
    async retry(id) {
      if ((await find(id))?.retry !== 'possible') return false
      const { numUpdatedRows } = await database.kysely
        .updateTable('account_mails')
        .set({ state: 'pending', due_at: clock.now().getTime(), finished_at: null })
        .where('id', '=', id)
        .where('state', '=', 'dead')
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
  }
}

function chooseRetry(
  { state, kind, createdAt }: Pick<ListedAccountMail, 'state' | 'kind' | 'createdAt'>,
  link: { readonly expires_at: number; readonly used_at: number | null } | undefined,
  now: number,
): AccountMailRetry {
  if (state !== 'dead') return state === 'done' ? 'sent' : 'waiting'
  const lifetime = LIFETIMES[kind]
  if (lifetime === undefined) return 'possible'
  if (link && link.used_at !== null) return 'link-used'
  // A link that no attempt has made yet is as old as the request for it.
  const expiresAt = link?.expires_at ?? createdAt.getTime() + lifetime * 1000
  return expiresAt <= now ? 'link-expired' : 'possible'
}
