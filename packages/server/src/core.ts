import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  connect,
  type Database,
  findDatabaseFile,
  migrate,
  requireMigrations,
  SchemaTooOld,
} from '@tollgate/database'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type Clock,
  createAuthorizationServer,
  kyselyStorage,
  type SignedIn,
  type UserClaims,
} from '@tollgate/oauth'
import type { Logger } from 'pino'
import { adminScopes } from './admin/operation.ts'
import type { Config } from './config/config.ts'
import { optionsOf } from './config/library-options.ts'
import { asConfigurationError, ConfigurationError } from './configuration-error.ts'
import { createFactors, type Factors } from './factors/factors.ts'
import { isRequired } from './factors/policy.ts'
import { enabledFeatures, enabledGrants } from './features.ts'
import { createLimits, type Limits } from './limits/limits.ts'
import { plainLogger } from './logger.ts'
import { createAuthorizationPages } from './pages/consent.tsx'
import { chooseAcr } from './sessions/methods.ts'
import { createSessions, type Sessions } from './sessions/sessions.ts'
import { migrationSets, refuseForeignTables } from './storage/found-tables.ts'
import { serviceMigrations } from './storage/migrations.ts'
import type { ServiceDatabase, ServiceTables } from './storage/tables.ts'
import { createTeams, type Teams } from './teams/teams.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { traceGrants } from './telemetry/trace-grants.ts'
import { createPasswords, type PasswordOptions } from './users/passwords.ts'
import type { User } from './users/user.ts'
import { createUsers, type UserAccounts } from './users/users.ts'

/** Opens the database. Creates the data folder first if it will contain the database file. */
export async function openDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'mode' | 'maxClockSkewSeconds'>,
  { logger, recordsTime = true }: { readonly logger?: Logger; readonly recordsTime?: boolean } = {},
): Promise<ServiceDatabase> {
  if (findDatabaseFile(config.databaseUrl) === resolve(config.dataDir, 'tollgate.db')) {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  }
  // A demo may start with an empty database. In production `connect()` refuses one that was not
  // there before.
  const beginAnew = config.mode === 'demo'
  const maxClockSkew = config.maxClockSkewSeconds * 1000
  const options = { beginAnew, maxClockSkew, recordsTime }
  if (!logger?.isLevelEnabled('debug')) return connect<ServiceTables>(config.databaseUrl, options)
  // A statement contains placeholders instead of values, so no secret gets into the log.
  const onQuery = (sql: string) => logger.debug({ sql }, 'statement')
  return connect<ServiceTables>(config.databaseUrl, { ...options, onQuery })
}

/**
 * Migrates the tables of the service and of the authorization server, but not those of billing.
 * Returns the names of the migrations applied to the service's tables.
 */
export async function migrateCore(database: Database): Promise<string[]> {
  await refuseForeignTables(database)
  const { applied } = await migrate(database, serviceMigrations)
  await kyselyStorage(database).migrate()
  return applied
}

/**
 * Checks that `tollgate migrate` has run, if the setting `migrate` is off.
 * @throws ConfigurationError if a table is out of date.
 */
export async function requireMigrated(database: Database): Promise<void> {
  try {
    await refuseForeignTables(database)
    for (const set of migrationSets) await requireMigrations(database, set)
  } catch (error) {
    if (!(error instanceof SchemaTooOld)) throw error
    throw new ConfigurationError(
      'The tables are not up to date, and the setting migrate is off. Run tollgate migrate, then start the service again.',
    )
  }
}

/** Users, teams, sessions, rate limits and the authorization server on one database. */
export interface Core {
  readonly users: UserAccounts
  readonly teams: Teams
  readonly sessions: Sessions
  readonly limits: Limits
  readonly factors: Factors
  readonly oauth: AuthorizationServer<User>
  fromRequest(request: Request): Promise<SignedIn | null>
}

export interface CoreOptions {
  readonly config: Config
  readonly database: ServiceDatabase
  readonly url: string
  /**
   * The clock of sessions, tokens and limits.
   * @default the clock of the database
   */
  readonly clock?: Clock
  readonly logger: Logger
  /** Whether the authorization server deletes expired rows in the background. */
  readonly background: boolean
  readonly passwords?: PasswordOptions
  /** The operator's OpenTelemetry SDK, for a span of each token request. */
  readonly telemetry?: Telemetry | null
}

export function createCore(options: CoreOptions): Core {
  const { config, database, url, clock = database.clock, logger } = options
  const { settings } = config
  const users = createUsers({ database, passwords: createPasswords(options.passwords), clock })
  const teams = createTeams({ database, clock })
  const sessions = createSessions({
    database,
    clock,
    secure: url.startsWith('https:'),
    requiresMfa: settings.secondFactor === 'required',
  })
  const factors = createFactors({
    database,
    clock,
    secrets: config.secrets,
    url,
    serviceName: settings.name,
    onChange: ({ userId, change }) => logger.info({ user: userId, change }, 'second factor'),
  })
  /**
   * Finds the user of the password grant. It asks for no second factor, so accounts that need one
   * are refused like a wrong password.
   */
  const findByCredentials = async (email: string, password: string) => {
    const user = await users.findByCredentials(email, password)
    const { secondFactor, passwordGrantWithSecondFactor } = settings
    if (secondFactor === 'off' || passwordGrantWithSecondFactor) return user
    // Also for a wrong password, so that both take the same time.
    const hasFactor = await factors.has(user?.id ?? '0')
    return user && !hasFactor && !isRequired(secondFactor, user.role) ? user : null
  }
  const fromRequest = async (request: Request) => {
    const session = await sessions.find(request.headers.get('cookie'))
    // The account may have been disabled or deleted while the person was signing in.
    if (!session || !(await users.findById(session.userId))) return null
    const { userId: id, sessionId, authenticatedAt, methods: amr } = session
    const acr = chooseAcr(amr)
    return { id, sessionId, authenticatedAt, amr, ...(acr !== null && { acr }) }
  }
  const oauth = createServer({
    issuer: url,
    secret: config.secrets,
    database,
    users: {
      findById: users.findById,
      findByIds: users.findByIds,
      findByCredentials,
      fromRequest,
      signOut: async (request) => {
        const { cookie } = await sessions.end(request.headers.get('cookie'))
        return { setCookie: cookie }
      },
      claims: async (user, scopes) => ({
        ...toUserClaims(user),
        ...(await settings.claims(user, scopes)),
      }),
    },
    ...optionsOf('oauth', settings),
    machineScopes: adminScopes(),
    pages: {
      ...createAuthorizationPages({ settings, findUser: users.findById }),
      ...settings.pages,
    },
    grants: traceGrants(options.telemetry ?? null, enabledGrants(settings, users)),
    features: enabledFeatures(config),
    selfRegistered: {
      scopes: config.selfRegistered.scopes,
      ...(config.selfRegistered.resources && { resources: config.selfRegistered.resources }),
    },
    purgeEvery: options.background ? settings.purgeEvery : false,
    migrate: settings.migrate,
    clock,
    logger: plainLogger(logger),
  })
  const limits = createLimits(database, clock, { logger: plainLogger(logger) })
  return { users, teams, sessions, limits, factors, oauth, fromRequest }
}

/**
 * Creates the authorization server.
 * @throws ConfigurationError if settings that are valid alone contradict each other.
 */
function createServer(options: AuthorizationServerOptions<User>): AuthorizationServer<User> {
  try {
    return createAuthorizationServer<User>(options)
  } catch (error) {
    throw asConfigurationError(error)
  }
}

/** Claims about a person that every client with the scope gets. */
function toUserClaims({ email, emailVerifiedAt, name }: User): UserClaims {
  return { email, email_verified: emailVerifiedAt !== null, ...(name !== null && { name }) }
}
