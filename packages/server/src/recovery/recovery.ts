import { isUniqueViolation } from '@tollgate/database'
import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { Config } from '../config/config.ts'
import type { Factors } from '../factors/factors.ts'
import type { Limits } from '../limits/limits.ts'
import {
  type AccountMailKind,
  accountMailKinds,
  FORGOT_PATH,
  renderAccountMail,
} from '../mail/account-mail.ts'
import type { Mailer } from '../mail/mailer.ts'
import { textFor } from '../messages/messages.ts'
import type { StillHolds } from '../sessions/account-lock.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { ServiceDatabase, UserRow } from '../storage/tables.ts'
import { INVITATION_DAYS } from '../teams/membership.ts'
import { invitationPath } from '../teams/team.ts'
import type { Teams } from '../teams/teams.ts'
import { endSignIns } from '../users/end-account.ts'
import { emailKey, InvalidAccount, requireEmail } from '../users/parse.ts'
import { fromRow, type User } from '../users/user.ts'
import type { UserAccounts } from '../users/users.ts'
import { type AccountMails, createAccountMails } from './account-mails.ts'
import {
  computeAccountBinding,
  createAccountLinks,
  createLinkId,
  LINK_LIFETIME,
  type LinkPurpose,
  LinkUnusable,
  type OpenLink,
} from './links.ts'
import { type AccountMail, createOutbox } from './outbox.ts'
import { createSignInWays } from './sign-in-ways.ts'

/** The pages that the links in mail open. */
export const RECOVERY_PATHS = {
  forgot: FORGOT_PATH,
  reset: '/recovery/reset',
  confirm: '/recovery/confirm',
  join: '/recovery/join',
  sent: '/recovery/sent',
  done: '/recovery/done',
} as const

const PAGES: Readonly<Record<LinkPurpose, string>> = {
  reset: RECOVERY_PATHS.reset,
  verify: RECOVERY_PATHS.confirm,
  change: RECOVERY_PATHS.confirm,
  register: RECOVERY_PATHS.join,
  invite: RECOVERY_PATHS.join,
}

const INVITATION_SECONDS = INVITATION_DAYS * 24 * 3600

/** Changes of an account that its owner is told about. */
export type AccountNotice =
  | 'password_changed'
  | 'sign_in_method_added'
  | 'sign_in_method_removed'
  | 'recovery_codes_created'
  | 'recovery_code_used'
  | 'quota_alert'

/** An account whose password was reset by a link. */
export interface PasswordReset {
  /** The address of the account. */
  readonly address: string
  /**
   * State of the other ways to sign in: `kept` if passkeys or other providers still work, `removed`
   * if the address was never confirmed before, `none` if there were none.
   */
  readonly otherWays: 'none' | 'kept' | 'removed'
}

/**
 * Mail about accounts: forgotten passwords, verification and change of addresses, invitations, and
 * notices of changes. Requests by strangers only add a row, whether or not the address has an
 * account; the worker finds out, so that no response depends on it (threat Q11).
 */
export interface Recovery {
  /** Whether the service sends mail. Without it, people cannot recover their accounts. */
  readonly hasMail: boolean
  /**
   * Whether people register by a link in a mail, so that the page does not say whether an address
   * has an account. The mailbox of a demo does not count.
   */
  readonly registersByMail: boolean
  requestPasswordReset(email: string, locale: string): Promise<void>
  requestRegistration(
    person: { readonly email: string; readonly name: string | null; readonly returnTo: string },
    locale: string,
  ): Promise<void>
  invite(person: { readonly email: string; readonly name: string | null }): Promise<void>
  /**
   * Creates the token of an invitation to a team that is sent by mail. Pass it to `teams.invite()`,
   * and the id to `inviteToTeam()` in the same transaction.
   */
  createInvitationToken(): { readonly id: string; readonly token: string }
  /**
   * Adds the mail of an invitation to a team to the outbox. Nothing is sent if the invitation was
   * withdrawn or replaced before (threat N8).
   */
  inviteToTeam(
    invitation: { readonly id: string; readonly email: string; readonly inviter: string },
    locale: string,
  ): Promise<void>
  requestVerification(user: User, locale: string): Promise<void>
  /**
   * Requests a change of address, which the new address must confirm. The old address is told.
   * @throws InvalidAccount if it is not an address.
   */
  requestAddressChange(user: User, email: string, locale: string): Promise<void>
  /**
   * Adds a notice to the outbox. Call it in the transaction of the change. `what` is the way to sign
   * in that changed, the number of recovery codes that are left, or the share of a quota and its name.
   */
  notify(
    user: Pick<User, 'id' | 'email' | 'locale'>,
    notice: AccountNotice,
    what?: string,
  ): Promise<void>
  /** Returns the name of another provider that people sign in with, or its id if it is unknown. */
  nameOfProvider(id: string): string
  /** Finds a link that works at present, without using it up. */
  find(purposes: readonly LinkPurpose[], token: string): Promise<OpenLink | null>
  /**
   * Sets a new password by a link, and ends all sessions and tokens. If the address was not
   * verified before, a stranger may have created the account: second factors, links with other
   * providers and approvals are removed, unless an operator has given the account a role.
   * @throws LinkUnusable
   * @throws InvalidAccount if the password is invalid. The link can still be used.
   */
  resetPassword(token: string, password: string, network: string): Promise<PasswordReset>
  /**
   * Confirms an address by a link. Returns the address.
   * @throws LinkUnusable
   */
  confirmAddress(token: string): Promise<string>
  /**
   * Creates an account by the link of a registration or an invitation. Its address is verified.
   * @throws LinkUnusable
   * @throws InvalidAccount if a field is invalid. The link can still be used.
   */
  join(
    token: string,
    person: { readonly name: string | null; readonly password: string },
    network: string,
  ): Promise<User>
  /**
   * Changes the password of a signed-in person, ends all sessions and tokens, and tells the owner.
   * Returns a function that checks whether the account still has this password, for the session that
   * follows.
   * @throws InvalidAccount
   * @throws SignInEnded if the session was ended meanwhile, for example by a reset.
   */
  changePassword(
    user: User,
    password: string,
    from: { readonly network: string; readonly sessionId: string },
  ): Promise<StillHolds>
  /** The queue of mail about accounts, for operators. */
  readonly mails: AccountMails
  /** Sends the mail that is due. */
  process(): Promise<void>
  purge(): Promise<void>
  close(): Promise<void>
}

export interface RecoveryOptions {
  readonly config: Config
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly url: string
  readonly users: UserAccounts
  readonly teams: Pick<Teams, 'isOpenInvitation'>
  readonly sessions: Sessions
  readonly factors: Pick<Factors, 'list'>
  readonly limits: Pick<Limits, 'takeTurn' | 'forgiveCodes'>
  readonly oauth: AuthorizationServer<User>
  readonly logger: { error(fields: object, message: string): void }
  /** Sends the mail in this process. `null` if other processes send it. */
  readonly mailer: Mailer | null
  /** Whether any process sends mail. */
  readonly hasMail: boolean
}

export function createRecovery(options: RecoveryOptions): Recovery {
  const { config, clock, url, users, teams, sessions, oauth, limits, mailer, hasMail, database } =
    options
  const { settings } = config
  const links = createAccountLinks({
    database,
    clock,
    secrets: config.secrets,
  })
  const outbox = createOutbox({
    database,
    clock,
    logger: options.logger,
    send: mailer === null ? null : (mail) => deliver(mailer, mail),
    everySeconds: mailer === null ? null : (settings.processEvery ?? 10),
  })

  const ways = createSignInWays(options)

  const findUser = async (column: 'id' | 'email_key', value: number | string) => {
    const row = await database.kysely
      .selectFrom('users')
      .selectAll()
      .where(column, '=', value as never)
      .executeTakeFirst()
    return row ?? null
  }

  /** Sends a mail of the outbox. Returns `false` if there is nothing to send. */
  async function deliver(to: Mailer, mail: AccountMail): Promise<boolean> {
    const found = await resolve(mail)
    if (!found) return false
    const { kind, address, user, purpose } = found
    if (mail.userId === null && user) {
      // Deleted with the account from now on.
      await database.kysely
        .updateTable('account_mails')
        .set({ user_id: user.id })
        .where('id', '=', mail.id)
        .execute()
    }
    const token = purpose && (await links.issue(describeLink(mail, found, purpose)))
    const isOwn = user !== null && user.email === address && user.email_verified_at !== null
    const t = textFor([...(user?.locale ? [user.locale] : []), mail.locale])
    const rendered = renderAccountMail(
      kind,
      {
        settings,
        url,
        email: address,
        name: isOwn ? user.name : null,
        link: found.link ?? (purpose && token ? `${url}${PAGES[purpose]}?token=${token}` : null),
        lifetime: found.link ? INVITATION_SECONDS : purpose ? LINK_LIFETIME[purpose] : 0,
        other: found.other ?? mail.details.other ?? '',
      },
      t,
    )
    await to.send({
      ...rendered,
      ...{ id: mail.messageId, kind, to: address, locale: t.language },
      owner: user ? { type: 'user', id: user.id } : null,
      attachments: async () => [],
    })
    return true
  }

  interface Resolved {
    readonly kind: AccountMailKind
    readonly address: string
    readonly user: UserRow | null
    readonly purpose: LinkPurpose | null
    /** URL of a link that the outbox does not make itself. */
    readonly link?: string
    /** Replaces `details.other` of the mail. */
    readonly other?: string
  }

  /** The mail of an invitation that is still open, from a person whose address is verified. */
  async function resolveTeamInvitation({
    address,
    details,
  }: AccountMail): Promise<Resolved | null> {
    const { link: id = '', inviter = 0 } = details
    const by = await findUser('id', inviter)
    const user = await findUser('email_key', emailKey(address))
    if (!settings.teams || !by || by.email_verified_at === null || by.disabled_at !== null)
      return null
    if (user && user.disabled_at !== null) return null
    for (const token of links.deriveInvitationTokens(id)) {
      if (!(await teams.isOpenInvitation(token))) continue
      const link = url + invitationPath(token)
      return { kind: 'team_invitation', address, user, purpose: null, link, other: by.email }
    }
    return null
  }

  const describeLink = (mail: AccountMail, { user, address }: Resolved, purpose: LinkPurpose) => ({
    id: mail.details.link ?? createLinkId(),
    purpose,
    address,
    userId: user?.id ?? null,
    binding: user && computeAccountBinding(user),
    details: {
      ...(mail.details.name && { name: mail.details.name }),
      ...(mail.details.returnTo && { returnTo: mail.details.returnTo }),
    },
  })

  /** Decides who gets which mail. Here, and not in the request, it matters who has an account. */
  async function resolve(mail: AccountMail): Promise<Resolved | null> {
    const kind = accountMailKinds.find((each) => each === mail.kind)
    if (!kind) return null
    const { address } = mail
    const known = (row: UserRow): Resolved | null =>
      row.disabled_at === null
        ? { kind: 'already_registered', address: row.email, user: row, purpose: null }
        : null
    if (kind === 'password_reset') {
      const user = await findUser('email_key', emailKey(address))
      if (!user || user.disabled_at !== null) return null
      // To the stored address, not to a spelling of it that a stranger has typed.
      return { kind, address: user.email, user, purpose: 'reset' }
    }
    if (kind === 'registration' || kind === 'invitation') {
      const row = await findUser('email_key', emailKey(address))
      const purpose = kind === 'invitation' ? 'invite' : 'register'
      return row ? known(row) : { kind, address, user: null, purpose }
    }
    if (kind === 'team_invitation') return resolveTeamInvitation(mail)
    const user = mail.userId === null ? null : await findUser('id', mail.userId)
    if (!user) return null
    if (kind === 'address_verification' || kind === 'address_change') {
      // Bound to the state at the request: who knew an old password has asked for nothing since.
      if (user.disabled_at !== null || mail.details.binding !== computeAccountBinding(user))
        return null
      if (kind === 'address_verification') return { kind, address, user, purpose: 'verify' }
      const other = await findUser('email_key', emailKey(address))
      if (other && other.id !== user.id) return known(other)
      return { kind, address, user, purpose: 'change' }
    }
    return { kind, address, user, purpose: null }
  }

  /**
   * Changes an account if it is still in the state in which its link was found.
   * @throws LinkUnusable
   */
  async function changeAccount(seen: UserRow, values: Partial<UserRow>): Promise<void> {
    const { numUpdatedRows } = await database.kysely
      .updateTable('users')
      .set(values)
      .where('id', '=', seen.id)
      .where('email_key', '=', seen.email_key)
      .where('password_hash', seen.password_hash === null ? 'is' : '=', seen.password_hash)
      .where('disabled_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new LinkUnusable()
  }

  const requireLink = async (purposes: readonly LinkPurpose[], token: string) => {
    const found = await links.find(purposes, token)
    if (!found) throw new LinkUnusable()
    return found
  }

  const requireUser = async (purposes: readonly LinkPurpose[], token: string) => {
    const { link, user } = await requireLink(purposes, token)
    if (!user) throw new LinkUnusable()
    return { link, user }
  }

  const bindingOfUser = async (id: string) => {
    const row = await findUser('id', Number(id))
    return row ? computeAccountBinding(row) : ''
  }

  async function notify(
    { id, email, locale }: Pick<User, 'id' | 'email' | 'locale'>,
    kind: AccountMailKind,
    details: AccountMail['details'] = {},
  ): Promise<void> {
    if (!hasMail) return
    await outbox.add({ kind, userId: Number(id), address: email, locale: locale ?? 'en', details })
  }

  /** Tells the owner of a new password, and what else can be used to sign in. */
  const notifyOfPassword = (
    user: Pick<User, 'id' | 'email' | 'locale'>,
    others: readonly string[],
  ) => notify(user, 'password_changed', { other: others.join(', ') })

  /**
   * Resets a password when it is the network's turn. Finds the link again, because another request
   * may have used it meanwhile: requests with one link must not hash many passwords.
   */
  async function resetInTurn(token: string, password: string): Promise<PasswordReset> {
    const { link, user } = await requireUser(['reset'], token)
    const passwordHash = await users.hashPassword({ email: user.email, password })
    const person = fromRow(user)
    const { id } = person
    // The address was never confirmed before, so a stranger may have set up the other ways. A mailbox
    // alone must not remove the second factor of an operator.
    const isUnproved = user.email_verified_at === null && user.role === null
    return database.unitOfWork(async () => {
      await links.consume(link)
      await changeAccount(user, {
        password_hash: passwordHash,
        // The link came to the address, which proves that mail to it reaches the person.
        email_verified_at: user.email_verified_at ?? clock.now().getTime(),
      })
      await endSignIns({ sessions, oauth }, id)
      const t = textOf(person)
      const removed = isUnproved ? await ways.removeAll(id, t) : []
      const kept = isUnproved ? [] : await ways.list(id, t)
      if (removed.length > 0) {
        await notify(person, 'sign_in_method_removed', { other: removed.join(', ') })
      }
      await notifyOfPassword(person, kept)
      const otherWays = removed.length > 0 ? 'removed' : kept.length > 0 ? 'kept' : 'none'
      return { address: user.email, otherWays }
    })
  }

  /** Creates the account of a link when it is the network's turn. */
  async function joinInTurn(
    token: string,
    { name, password }: { readonly name: string | null; readonly password: string },
  ): Promise<User> {
    const { link } = await requireLink(['register', 'invite'], token)
    const account = { email: link.address, name, password }
    const passwordHash = await users.hashPassword(account)
    try {
      return await database.unitOfWork(async () => {
        await links.consume(link)
        return users.create({ ...account, passwordHash, isVerified: true })
      })
    } catch (error) {
      const isTaken = error instanceof InvalidAccount && error.problems.email !== undefined
      throw isTaken ? new LinkUnusable() : error
    }
  }

  return {
    hasMail,
    registersByMail: config.smtp !== null || settings.mail?.send !== undefined,
    requestPasswordReset: (email, locale) =>
      outbox.add({
        kind: 'password_reset',
        userId: null,
        address: email.trim(),
        locale,
        details: { link: createLinkId() },
      }),
    requestRegistration: ({ email, name, returnTo }, locale) =>
      outbox.add({
        kind: 'registration',
        userId: null,
        address: email.trim(),
        locale,
        details: { link: createLinkId(), name, returnTo },
      }),
    invite: ({ email, name }) =>
      outbox.add({
        kind: 'invitation',
        userId: null,
        address: email.trim(),
        locale: settings.invoice.locale ?? 'en',
        details: { link: createLinkId(), name },
      }),
    createInvitationToken() {
      const id = createLinkId()
      const [token] = links.deriveInvitationTokens(id)
      if (token === undefined) throw new TypeError('Links need a secret')
      return { id, token }
    },
    inviteToTeam: ({ id, email, inviter }, locale) =>
      outbox.add({
        kind: 'team_invitation',
        userId: null,
        address: email.trim(),
        locale,
        details: { link: id, inviter: Number(inviter) },
      }),
    async requestVerification({ id, email }, locale) {
      const details = { link: createLinkId(), binding: await bindingOfUser(id) }
      const mail = { kind: 'address_verification', userId: Number(id), address: email } as const
      await outbox.add({ ...mail, locale, details })
    },
    async requestAddressChange(user, email, locale) {
      requireEmail(email)
      const address = email.trim()
      const details = { link: createLinkId(), binding: await bindingOfUser(user.id) }
      await database.unitOfWork(async () => {
        const mail = { kind: 'address_change', userId: Number(user.id), address } as const
        await outbox.add({ ...mail, locale, details })
        await notify({ ...user, locale: user.locale ?? locale }, 'address_change_requested', {
          other: address,
        })
      })
    },
    async notify(user, notice, what) {
      if (notice === 'password_changed') {
        await notifyOfPassword(user, await ways.list(user.id, textOf(user)))
      } else await notify(user, notice, what ? { other: what } : {})
    },
    nameOfProvider: ways.nameOfProvider,
    find: links.find,
    async resetPassword(token, password, network) {
      const { user } = await requireUser(['reset'], token)
      // Only people who got the mail have a link that works.
      const caller = { network, isKnown: true }
      const reset = await limits.takeTurn(caller, () => resetInTurn(token, password))
      await limits.forgiveCodes(String(user.id))
      return reset
    },
    async confirmAddress(token) {
      const { link, user } = await requireUser(['verify', 'change'], token)
      const verified = { email_verified_at: clock.now().getTime() }
      const { address } = link
      try {
        await database.unitOfWork(async () => {
          await links.consume(link)
          if (link.purpose === 'verify') return changeAccount(user, verified)
          const changed = { email: address, email_key: emailKey(address) }
          await changeAccount(user, { ...verified, ...changed })
          const before = fromRow(user)
          await notify(before, 'address_changed', { other: address })
          await notify({ ...before, email: address }, 'address_confirmed')
        })
      } catch (error) {
        // Another account has got the address since.
        throw isUniqueViolation(error) ? new LinkUnusable() : error
      }
      return address
    },
    async join(token, person, network) {
      await requireLink(['register', 'invite'], token)
      return limits.takeTurn({ network, isKnown: true }, () => joinInTurn(token, person))
    },
    async changePassword(user, password, { network, sessionId }) {
      const account = { email: user.email, password }
      const caller = { network, isKnown: true }
      const passwordHash = await limits.takeTurn(caller, () => users.hashPassword(account))
      const others = await ways.list(user.id, textOf(user))
      await sessions.whileOpen(user.id, sessionId, async () => {
        await database.kysely
          .updateTable('users')
          .set({ password_hash: passwordHash })
          .where('id', '=', Number(user.id))
          .execute()
        await endSignIns({ sessions, oauth }, user.id)
        await notifyOfPassword(user, others)
      })
      await limits.forgiveCodes(user.id)
      return async () => (await findUser('id', Number(user.id)))?.password_hash === passwordHash
    },
    mails: createAccountMails({ database, clock }),
    process: outbox.process,
    async purge() {
      await Promise.all([outbox.purge(), links.purge()])
    },
    async close() {
      await outbox.close()
      mailer?.close()
    },
  }
}

const textOf = ({ locale }: Pick<User, 'locale'>) => textFor(locale === null ? [] : [locale])
