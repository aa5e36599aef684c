import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { connect, type Database, findDatabaseFile, migrate } from '@tollgate/database'
import {
  type AuthorizationServer,
  type Clock,
  createAuthorizationServer,
  kyselyStorage,
  type SignedIn,
  type UserClaims,
} from '@tollgate/oauth'
import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import { createLimits, type Limits } from './limits/limits.ts'
import { plainLogger } from './logger.ts'
import { offeredFeatures, offeredGrants, PASSWORD_ACR } from './offered.ts'
import { createAuthorizationPages } from './pages/consent.tsx'
import { createSessions, type Sessions } from './sessions/sessions.ts'
import { refuseForeignTables } from './storage/found-tables.ts'
import { serviceMigrations } from './storage/migrations.ts'
import { createPasswords, type PasswordOptions } from './users/passwords.ts'
import type { User } from './users/user.ts'
import { createUsers, type UserAccounts } from './users/users.ts'

/** Opens the database; the folder of a demo's own file is made first. */
export async function openDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'mode' | 'maxClockSkewSeconds'>,
  { logger, recordsTime = true }: { readonly logger?: Logger; readonly recordsTime?: boolean } = {},
): Promise<Database> {
  if (findDatabaseFile(config.databaseUrl) === resolve(config.dataDir, 'tollgate.db')) {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  }
  // A demo may lose everything; elsewhere an empty database in place of another is refused.
  const beginAnew = config.mode === 'demo'
  const maxClockSkew = config.maxClockSkewSeconds * 1000
  const options = { beginAnew, maxClockSkew, recordsTime }
  if (!logger?.isLevelEnabled('debug')) return connect(config.databaseUrl, options)
  // Values are not part of a statement, so no secret gets into the log.
  const onQuery = (sql: string) => logger.debug({ sql }, 'statement')
  return connect(config.databaseUrl, { ...options, onQuery })
}

/** The service's own tables and those of the authorization server; billing's come with billing. */
export async function migrateCore(database: Database): Promise<string[]> {
  await refuseForeignTables(database)
  const { applied } = await migrate(database, serviceMigrations)
  await kyselyStorage(database).migrate()
  return applied
}

/** Users, sessions, limits and the authorization server over one database. */
export interface Core {
  readonly users: UserAccounts
  readonly sessions: Sessions
  readonly limits: Limits
  readonly oauth: AuthorizationServer<User>
  fromRequest(request: Request): Promise<SignedIn | null>
}

export interface CoreOptions {
  readonly config: Config
  readonly database: Database
  readonly url: string
  /** Default: the database's. */
  readonly clock?: Clock
  readonly logger: Logger
  /** Whether it purges by itself. */
  readonly background: boolean
  readonly passwords?: PasswordOptions
}

export function createCore(options: CoreOptions): Core {
  const { config, database, url, clock = database.clock, logger } = options
  const users = createUsers({ database, passwords: createPasswords(options.passwords), clock })
  const sessions = createSessions({ database, clock, secure: url.startsWith('https:') })
  const fromRequest = async (request: Request) => {
    const session = await sessions.find(request.headers.get('cookie'))
    // The account may have been disabled or deleted at the very moment of the sign-in.
    if (!session || !(await users.findById(session.userId))) return null
    const { userId: id, sessionId, startedAt: authenticatedAt } = session
    return { id, sessionId, authenticatedAt, acr: PASSWORD_ACR, amr: ['pwd'] }
  }
  const oauth = createAuthorizationServer<User>({
    issuer: url,
    secret: config.secrets,
    database,
    users: {
      findById: users.findById,
      findByIds: users.findByIds,
      findByCredentials: users.findByCredentials,
      fromRequest,
      signOut: async (request) => {
        const { cookie } = await sessions.end(request.headers.get('cookie'))
        return { setCookie: cookie }
      },
      claims: async (user, scopes) => ({
        ...claimsOf(user),
        ...(await config.settings.claims(user, scopes)),
      }),
    },
    scopes: config.settings.scopes,
    optionalScopes: config.settings.optionalScopes,
    pages: createAuthorizationPages({ settings: config.settings, findUser: users.findById }),
    grants: offeredGrants(config.settings, users),
    features: offeredFeatures(config),
    selfRegistered: {
      scopes: config.selfRegistered.scopes,
      ...(config.selfRegistered.resources && { resources: config.selfRegistered.resources }),
    },
    outgoing: config.settings.outgoing,
    signingAlgorithm: config.settings.signingAlgorithm,
    tokenType: config.settings.tokenType,
    ...(config.settings.accessTokenClaims && {
      accessTokenClaims: config.settings.accessTokenClaims,
    }),
    ...(config.settings.resources && { resources: config.settings.resources }),
    accessTokensExpireIn: config.settings.accessTokensExpireIn,
    refreshTokensExpireIn: config.settings.refreshTokensExpireIn,
    ...(options.background ? {} : { purgeEvery: false as const }),
    clock,
    logger: plainLogger(logger),
  })
  const limits = createLimits(database, clock, { logger: plainLogger(logger) })
  return { users, sessions, limits, oauth, fromRequest }
}

/** What clients learn of every person, each with its scope. Nobody has looked whether the address is theirs. */
function claimsOf({ email, name }: User): UserClaims {
  return { email, email_verified: false, ...(name !== null && { name }) }
}
