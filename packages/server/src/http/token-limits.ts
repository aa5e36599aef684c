import { type GuessVerdict, TooManyRequests } from '@tollgate/oauth'
import type { Context, MiddlewareHandler } from 'hono'
import type { ServiceContext } from '../context.ts'
import { emailKey } from '../users/parse.ts'
import { readText } from './readable.ts'
import type { AppEnv } from './variables.ts'

/** Endpoints at which secrets, codes and tokens can be guessed. */
const GUESSABLE = ['token', 'introspect', 'revoke', 'device_authorization', 'par']

/** Errors that well-behaved clients get: a device that polls, or a client that needs a nonce. */
const TRY_AGAIN: readonly string[] = ['authorization_pending', 'slow_down', 'use_dpop_nonce']

/**
 * Limits failed attempts at the token endpoints (threat L2). Secrets, codes and tokens are checked
 * first, and only wrong ones are counted, so that failures of other callers never block a correct
 * one. A password is counted before it is checked.
 */
export function limitTokenRoutes(context: ServiceContext): MiddlewareHandler<AppEnv> {
  const paths = new Set(GUESSABLE.map((name) => `/oauth/${name}`))
  const { limits, metrics } = context
  return async (c, next) => {
    if (c.req.method !== 'POST' || !paths.has(c.req.path)) return next()
    const form = new URLSearchParams(await readText(c))
    const { clientId, sendsProof } = readClient(c.req.header('authorization'), form)
    const network = c.get('network')
    const username = form.get('grant_type') === 'password' ? form.get('username') : null
    const handle = async () => {
      await next()
      return readError(c)
    }
    try {
      const isProof = c.req.path === '/oauth/token' && c.req.header('dpop') !== undefined
      const takeBack = isProof && !sendsProof ? await limits.countProof(network) : null
      let error: string | null
      if (username === null) error = await handle()
      else {
        const by = { account: emailKey(username), network }
        error = await limits.tryPassword(by, handle, judgePassword)
        const verdict = judgePassword(error)
        if (verdict !== 'unseen') {
          metrics.countSignIn(verdict === 'right' ? 'succeeded' : 'failed')
        }
      }
      if (takeBack && (error === null || TRY_AGAIN.includes(error))) await takeBack()
      if (error === 'invalid_client') await limits.countWrong('secret', clientId, network)
      if (error === 'invalid_grant' && username === null) {
        await limits.countWrong('grant', clientId, network)
      }
    } catch (refused) {
      if (!(refused instanceof TooManyRequests)) throw refused
      metrics.countRefusal(c.req.path.split('/').at(-1) ?? '')
      refuse(c, refused)
    }
    return undefined
  }
}

const REGISTER = '/oauth/register'

/**
 * Limits failed attempts at client registration. The registration token is checked before the
 * limit: only wrong tokens count, and a correct one is accepted even after the limit is reached.
 */
export function limitClientRegistration(context: ServiceContext): MiddlewareHandler<AppEnv> {
  const { limits, metrics } = context
  return async (c, next) => {
    const { path } = c.req
    if (path !== REGISTER && !path.startsWith(`${REGISTER}/`)) return next()
    const network = c.get('network')
    try {
      await next()
      const id = path.slice(REGISTER.length)
      if (c.res.status === 401) await limits.countWrong('secret', `register${id}`, network)
    } catch (refused) {
      if (!(refused instanceof TooManyRequests)) throw refused
      metrics.countRefusal('client-registration')
      refuse(c, refused)
    }
    return undefined
  }
}

function refuse(c: Context<AppEnv>, refused: TooManyRequests): void {
  const forPages = crossOriginHeaders(c.res)
  // Otherwise Hono merges the headers of the previous response.
  c.res = undefined
  c.res = tooManyJson(refused)
  for (const [name, value] of forPages) c.header(name, value)
}

/** CORS headers of the replaced response, so that pages on other origins can read this one, too. */
function crossOriginHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-'))
}

function judgePassword(error: string | null): GuessVerdict {
  if (error === null) return 'right'
  return error === 'invalid_grant' ? 'wrong' : 'unseen'
}

export function tooManyJson({ message, retryAfterSeconds }: TooManyRequests): Response {
  return Response.json(
    { error: 'too_many_requests', error_description: message },
    {
      status: 429,
      headers: { 'retry-after': String(retryAfterSeconds), 'cache-control': 'no-store' },
    },
  )
}

/** Reads the `error` of an OAuth response. `null` if it succeeded. */
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

/**
 * Reads the client's id, without authenticating it, and whether it sends a secret or an assertion.
 * For counting only.
 */
function readClient(
  authorization: string | undefined,
  form: URLSearchParams,
): { readonly clientId: string; readonly sendsProof: boolean } {
  const [, encoded] = /^basic +([a-z0-9+/]+=*)$/i.exec(authorization ?? '') ?? []
  if (encoded === undefined) {
    const proof = form.get('client_secret') || form.get('client_assertion')
    return { clientId: form.get('client_id') ?? '', sendsProof: Boolean(proof) }
  }
  const [clientId = '', ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return { clientId, sendsProof: secret.join(':') !== '' }
}
