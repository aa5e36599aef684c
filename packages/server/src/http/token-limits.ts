import { TooManyRequests, type Verdict } from '@tollgate/oauth'
import type { Context, MiddlewareHandler } from 'hono'
import type { ServiceContext } from '../context.ts'
import { emailKey } from '../users/parse.ts'
import { readText } from './body.ts'
import type { AppEnv } from './variables.ts'

/** Where secrets, codes and tokens can be tried. */
const GUESSABLE = ['token', 'introspect', 'revoke', 'device_authorization', 'par']

/** What honest clients are told: a device that polls, or one that needs a nonce first. */
const TRY_AGAIN: readonly string[] = ['authorization_pending', 'slow_down', 'use_dpop_nonce']

/**
 * Counts what fails at the token routes (threat L2). Secrets, codes and tokens are checked first and
 * only wrong ones counted and refused, so that nobody's failures stop a right one. A password is counted
 * before it is looked at.
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
 * The same for clients that register themselves: tokens that let somebody register or manage a client are checked first,
 * and only wrong ones counted and refused.
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
  // Hono would add the headers of the refusal that was there before.
  c.res = undefined
  c.res = tooManyJson(refused)
  for (const [name, value] of forPages) c.header(name, value)
}

/** Pages on other origins read this refusal as they would have read the other one. */
function crossOriginHeaders({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-'))
}

function judgePassword(error: string | null): Verdict {
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
