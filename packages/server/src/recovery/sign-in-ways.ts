import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { Config } from '../config/config.ts'
import type { Factors } from '../factors/factors.ts'
import type { PageText } from '../messages/messages.ts'
import { deleteSignInWays } from '../storage/personal-data.ts'
import type { ServiceDatabase } from '../storage/tables.ts'
import { createUpstream } from '../upstream/upstream.ts'
import type { User } from '../users/user.ts'
import type { UserAccounts } from '../users/users.ts'

/** The ways to sign in to an account besides its password: passkeys and other providers. */
export interface SignInWays {
  /** Returns the names of the ways that work at present, for a mail to the owner. */
  list(userId: string, t: PageText): Promise<string[]>
  /**
   * Deletes all second factors and all links with other providers, and withdraws the approvals of
   * applications. Returns the names of the deleted ways to sign in.
   */
  removeAll(userId: string, t: PageText): Promise<string[]>
  /** Returns the name of another provider, or its id if it is not in the configuration any more. */
  nameOfProvider(id: string): string
}

export function createSignInWays(options: {
  readonly config: Config
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly url: string
  readonly users: UserAccounts
  readonly factors: Pick<Factors, 'list'>
  readonly oauth: Pick<AuthorizationServer<User>, 'consents'>
}): SignInWays {
  const { config, users, factors, oauth } = options
  const upstream = createUpstream(options)

  async function read(userId: string, t: PageText) {
    const [{ passkeys, totp }, links] = await Promise.all([
      factors.list(userId),
      users.identities.list(userId),
    ])
    return {
      passkeys: passkeys.length > 0 ? [t('factors.passkeys')] : [],
      apps: totp ? [t('factors.app.title')] : [],
      providers: links.map(({ provider }) => provider),
    }
  }

  const nameOf = (id: string) => upstream.find(id)?.name ?? id

  return {
    nameOfProvider: nameOf,
    async list(userId, t) {
      const { passkeys, providers } = await read(userId, t)
      const usable = providers.filter((id) => upstream.find(id) !== null)
      const isOff = config.settings.secondFactor === 'off'
      return [...(isOff ? [] : passkeys), ...usable.map(nameOf)]
    },
    async removeAll(userId, t) {
      const { passkeys, apps, providers } = await read(userId, t)
      const removed = [...passkeys, ...apps, ...providers.map(nameOf)]
      // Also recovery codes alone, which would open an account that gets a second factor later.
      await deleteSignInWays(options.database, userId)
      // An application that was approved before could otherwise get new tokens without a question.
      for (const { clientId } of await oauth.consents.listByUser(userId)) {
        await oauth.consents.revoke(userId, clientId)
      }
      return removed
    },
  }
}
