import { connect, type Database } from '@tollgate/database'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  openid,
  password,
  refreshToken,
} from '../../src/index.ts'
import { SCOPES, SECRET, type TestUser, TestUsers } from '../support.ts'

/** A process of an application, connected to the database at a URL. */
export interface AppProcess {
  readonly oauth: AuthorizationServer<TestUser>
  readonly database: Database
  /** Messages that it logged as errors. */
  readonly errors: string[]
  /** Messages that it logged as warnings. */
  readonly warnings: string[]
  /** Returns the status of a guarded request with this token. */
  statusOf(token: string): Promise<number>
  post(path: string, form: Record<string, string>): Promise<Response>
  close(): Promise<void>
}

type Changes = Partial<AuthorizationServerOptions<TestUser>>

export async function startProcess(url: string, changes: Changes = {}): Promise<AppProcess> {
  const database = await connect(url, { timeout: 5000, poolSize: 3 })
  const errors: string[] = []
  const warnings: string[] = []
  const oauth = createAuthorizationServer<TestUser>({
    issuer: 'http://localhost:4999',
    secret: SECRET,
    ...(changes.storage ? {} : { database }),
    users: new TestUsers(),
    scopes: SCOPES,
    grants: [authorizationCode(), refreshToken(), password(), clientCredentials()],
    features: [openid()],
    logger: { error: (text) => errors.push(text), warn: (text) => warnings.push(text) },
    ...changes,
  })
  return {
    oauth,
    database,
    errors,
    warnings,
    async statusOf(token) {
      try {
        const credentials = { authorization: `Bearer ${token}`, cookie: null, csrfToken: null }
        await oauth.guard.authenticate('api', credentials)
        return 200
      } catch (error) {
        return oauth.guard.refusal(error).status
      }
    },
    post: (path, form) =>
      oauth.fetch(
        new Request(`http://localhost:4999${path}`, {
          method: 'POST',
          body: new URLSearchParams(form),
        }),
      ),
    async close() {
      oauth.close()
      await database.close()
    },
  }
}
