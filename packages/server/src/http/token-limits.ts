import type { Context, MiddlewareHandler } from 'hono'
import type { ServiceContext } from '../context.ts'
import { TooManyRequests } from '../limits/limits.ts'
import { emailKey } from '../users/parse.ts'
import type { AppEnv } from './variables.ts'

/** Where secrets, codes and tokens can be tried. */
const GUESSABLE = ['token', 'introspect', 'revoke']

/**
 * Counts what fails at the token routes, and refuses whoever fails too often (threats L2). A password
 * grant is counted before its password is looked at, everything else after it has failed.
 */
export function limitTokenRoutes(context: ServiceContext): MiddlewareHandler<AppEnv> {
  const paths = new Set(GUESSABLE.map((name) => `/oauth/${name}`))
  const { limits, metrics } = context
  return async (c, next) => {
    if (c.req.method !== 'POST' || !paths.has(c.req.path)) return next()
    const form = new URLSearchParams(await c.req.text())
    const clientId = readClientId(c.req.header('authorization'), form)
    const network = c.get('network')
    try {
      await limits.checkClient(clientId, network)
      const username = form.get('grant_type') === 'password' ? form.get('username') : null
      const attempt =
        username === null ? null : await limits.attemptPassword(emailKey(username), network)
      await next()
      const error = await readError(c)
      if (attempt) {
        if (error === null) await attempt.succeeded()
        else if (error === 'invalid_grant') await attempt.failed()
        else await attempt.withdrawn()
        if (error === null || error === 'invalid_grant') {
          metrics.countSignIn(error === null ? 'succeeded' : 'failed')
        }
      }
      if (error === 'invalid_client') await limits.clientFailed('secret', clientId, network)
      else if (error === 'invalid_grant' && !attempt) {
        await limits.clientFailed('grant', clientId, network)
      } else if (error === null) await limits.clientSucceeded(clientId, network)
    } catch (refused) {
      if (!(refused instanceof TooManyRequests)) throw refused
      metrics.countRefusal(c.req.path.split('/').at(-1) ?? '')
      return tooManyJson(c, refused)
    }
    return undefined
  }
}

export function tooManyJson(c: Context, { message, retryAfterSeconds }: TooManyRequests): Response {
  c.header('retry-after', String(retryAfterSeconds))
  c.header('cache-control', 'no-store')
  return c.json({ error: 'too_many_requests', error_description: message }, 429)
}

/** The `error` of an OAuth answer; null for a success. */
async function readError(c: Context<AppEnv>): Promise<string | null> {
  if (c.res.status < 400) return null
  try {
    const body: unknown = await c.res.clone().json()
    const { error } = body as { error?: unknown }
    return typeof error === 'string' ? error : 'unknown'
  } catch {
    return 'unknown'
  }
}

/** Only to count by; whether it is right is decided elsewhere. */
function readClientId(authorization: string | undefined, form: URLSearchParams): string {
  const [, encoded] = /^basic +([a-z0-9+/]+=*)$/i.exec(authorization ?? '') ?? []
  if (encoded === undefined) return form.get('client_id') ?? ''
  return Buffer.from(encoded, 'base64').toString('utf8').split(':')[0] ?? ''
}
