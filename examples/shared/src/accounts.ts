import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { addColumn, createTable, type Database, migrate } from '@tollgate/database'

export interface Account {
  readonly id: number
  readonly email: string
  readonly name: string
}

/** Parts of an application before it adds Tollgate: users with passwords, and sessions. */
export interface Accounts {
  findById(id: string | number): Promise<Account | null>
  findByCredentials(email: string, password: string): Promise<Account | null>
  /**
   * Returns the signed-in user, with the time of sign-in: clients may require a recent one
   * (`prompt=login`, `max_age`).
   */
  fromRequest(
    request: Request,
  ): Promise<{ id: number; sessionId: string; authenticatedAt?: Date } | null>
  /** Checks the sign-in form. Returns the session's cookie and the page to continue with. */
  signIn(
    form: Readonly<Record<string, unknown>> | undefined,
    origin: string | null | undefined,
  ): Promise<{ cookie: string; location: string } | null>
}

interface SessionRow {
  readonly user_id: number
  /** `null` for sessions created before this column was added. */
  readonly signed_in_at: number | null
}

const derive = promisify(scrypt) as (text: string, salt: Buffer, size: number) => Promise<Buffer>
const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/**
 * Opens the accounts, in two small tables with one user to try the example with. `url` is the
 * application's own.
 */
export async function openAccounts(database: Database, url: string): Promise<Accounts> {
  await createTables(database)
  const { kysely } = database
  const demo = { email: 'demo@example.com', name: 'Demo', password: await seal('demo-password') }
  if (!(await find('email', demo.email))) await kysely.insertInto('users').values(demo).execute()
  const nobody = await seal(randomBytes(16).toString('hex'))

  async function find(column: 'id' | 'email', value: string | number) {
    const rows = kysely.selectFrom('users').selectAll().where(column, '=', value)
    return (await rows.executeTakeFirst()) as (Account & { password: string }) | undefined
  }

  const accounts: Accounts = {
    async findById(id) {
      const found = await find('id', id)
      return found ? { id: found.id, email: found.email, name: found.name } : null
    },
    async findByCredentials(email, password) {
      const found = await find('email', email)
      // Does the same work for an unknown address, so that the response time does not reveal that
      // it is unknown.
      if (!(await isSealed(password, found?.password ?? nobody)) || !found) return null
      return accounts.findById(found.id)
    },
    async fromRequest(request) {
      const sessionId = /(?:^|; )session=([\w-]+)/.exec(request.headers.get('cookie') ?? '')?.[1]
      if (!sessionId) return null
      const row = kysely.selectFrom('sessions').selectAll().where('id', '=', hash(sessionId))
      const found = (await row.executeTakeFirst()) as SessionRow | undefined
      if (!found) return null
      const { user_id: id, signed_in_at: at } = found
      return { id, sessionId, ...(at !== null && { authenticatedAt: new Date(at) }) }
    },
    async signIn(form = {}, origin) {
      if (origin !== url) return null
      const { email = '', password = '', return_to: returnTo = '/' } = form
      const user = await accounts.findByCredentials(String(email), String(password))
      if (!user) return null
      const sessionId = randomBytes(32).toString('base64url')
      await kysely
        .insertInto('sessions')
        .values({ id: hash(sessionId), user_id: user.id, signed_in_at: Date.now() })
        .execute()
      const secure = url.startsWith('https:') ? '; Secure' : ''
      const cookie = `session=${sessionId}; Path=/; HttpOnly; SameSite=Lax${secure}`
      return { cookie, location: onThisHost(String(returnTo)) }
    },
  }
  return accounts
}

/**
 * Returns only paths of this host: `//evil.example` and `/\evil.example` lead to another one. So
 * does a tab between the slashes, because browsers remove it.
 */
function onThisHost(returnTo: string): string {
  return /^\/(?!\/)[^\\\p{Cc}]*$/u.test(returnTo) ? returnTo : '/'
}

async function seal(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('base64')}.${(await derive(password, salt, 32)).toString('base64')}`
}

async function isSealed(password: string, sealed: string): Promise<boolean> {
  const [salt = '', expected = ''] = sealed.split('.')
  const given = await derive(password, Buffer.from(salt, 'base64'), 32)
  return timingSafeEqual(given, Buffer.from(expected, 'base64'))
}

async function createTables(database: Database): Promise<void> {
  await migrate(database, {
    name: 'example',
    migrations: [
      {
        id: '0001-users',
        async up(db, columns) {
          await createTable(db, 'users', {
            columns: {
              id: columns.counter,
              email: columns.string(255),
              name: columns.string(255),
              password: columns.string(255),
            },
            unique: { users_by_email: ['email'] },
          })
          await createTable(db, 'sessions', {
            columns: { id: columns.id, user_id: columns.integer },
            primaryKey: ['id'],
          })
        },
      },
      {
        id: '0002-signed-in-at',
        up: (db, columns) => addColumn(db, 'sessions', 'signed_in_at', columns.instant.nullable()),
      },
    ],
  })
}
