import { isHttpError } from '@tollgate/http'
import { isOAuthError } from '@tollgate/oauth'
import type { Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Actor } from '../../admin/audit/caller.ts'
import { execute } from '../../admin/execute.ts'
import { JsonLinesResult } from '../../admin/lines.ts'
import {
  adminScopes,
  listPaths,
  type Operation,
  type OperationPath,
} from '../../admin/operation.ts'
import { OPERATIONS } from '../../admin/operations/all.ts'
import { AdminProblem } from '../../admin/problems.ts'
import { toProblem } from '../../admin/to-problem.ts'
import type { ServiceContext } from '../../context.ts'
import { isRequired } from '../../factors/policy.ts'
import { createLinesBody } from '../../http/lines.ts'
import { readText, UnreadableRequest } from '../../http/readable.ts'
import { isSameOrigin } from '../../http/same-origin.ts'
import type { AppEnv } from '../../http/variables.ts'
import { PROBLEMS } from '../../service-error.ts'
import { createOpenApi } from './openapi.ts'

export const ADMIN_API_PATH = '/admin/v1'
/** The path below which APIs count the use of people. */
export const GATE_API_PATH = '/gate/v1'

/** Adds the management API: one route per operation, and the documents that describe them. */
export function addAdminApi(app: Hono<AppEnv>, context: ServiceContext): void {
  const document = createOpenApi(context.url, OPERATIONS)
  app.get(`${ADMIN_API_PATH}/openapi.json`, (c) => c.json(document))
  app.get(`${ADMIN_API_PATH}/problems`, (c) => c.json(PROBLEMS))
  for (const operation of OPERATIONS) {
    for (const at of listPaths(operation)) {
      app.on(
        operation.route[0],
        ADMIN_API_PATH + at.path.replace(/\{(\w+)\}/g, ':$1'),
        async (c) => {
          try {
            return await serve(c, operation, at, context)
          } catch (error) {
            return respondToAdminError(c, error, context)
          }
        },
      )
    }
  }
  app.all(`${ADMIN_API_PATH}/*`, (c) => {
    const allowed = OPERATIONS.filter((operation) =>
      listPaths(operation).some(({ path }) => matchesRoutePattern(path, c.req.path)),
    ).map(({ route }) => route[0])
    if (allowed.length === 0) {
      const detail = `${ADMIN_API_PATH}/openapi.json lists the paths.`
      return problemResponse(c, new AdminProblem('not-found', detail), context)
    }
    c.header('allow', allowed.join(', '))
    const detail = `This path supports ${allowed.join(', ')}.`
    return problemResponse(c, new AdminProblem('method-not-allowed', detail), context)
  })
}

function matchesRoutePattern(pattern: string, path: string): boolean {
  const expected = `${ADMIN_API_PATH}${pattern}`.split('/')
  const given = path.split('/')
  return (
    expected.length === given.length &&
    expected.every((part, at) => (part.startsWith('{') ? given[at] !== '' : part === given[at]))
  )
}

async function serve(
  c: Context<AppEnv>,
  operation: Operation,
  at: OperationPath,
  context: ServiceContext,
): Promise<Response> {
  const actor = await authenticate(c, context)
  const input = await readInput(c, operation, at)
  const result = await execute(
    operation,
    {
      caller: { actor, door: 'api', address: c.get('address'), requestId: c.get('requestId') },
      input,
      idempotencyKey: readKey(c),
      ifMatch: c.req.header('if-match') ?? null,
    },
    context.admin,
  )
  c.header('cache-control', 'no-store')
  if (result === null || operation.status === 204) return c.body(null, 204)
  if (result instanceof JsonLinesResult) return linesResponse(c, result, context)
  const { version } = result as { readonly version?: string }
  if (version !== undefined) c.header('etag', `"${version}"`)
  return c.json(result as object, (operation.status ?? 200) as ContentfulStatusCode)
}

/**
 * Authenticates an operator by the session of this service, or a client by an access token that was
 * issued to the client itself. Rejects every token of a person, whatever its scopes.
 */
async function authenticate(
  c: Context<AppEnv>,
  { oauth, sessions, users, url, config }: ServiceContext,
): Promise<Actor> {
  const authorization = c.req.header('authorization')
  const cookie = c.req.header('cookie')
  const csrfToken = c.req.header('x-csrf-token')
  if (authorization !== undefined) return authenticateClient(c, oauth, authorization)
  // The cookie of cookie mode proves, with its CSRF token, that a page of ours sent this.
  const { id } = await rejectAsProblem(() =>
    oauth.guard.authenticate('api', { authorization: undefined, cookie, csrfToken }),
  )
  const session = await sessions.find(cookie ?? null)
  const user = session?.userId === id ? await users.findById(id) : null
  if (!session || !user || !isSameOrigin(c.req.raw, url)) throw unauthenticated()
  if (user.role === null) {
    throw new AdminProblem('forbidden', 'This account is not an operator.')
  }
  const { role, email } = user
  if (isRequired(config.settings.secondFactor, role) && !session.methods.includes('mfa')) {
    throw new AdminProblem('forbidden', 'This account must sign in with a second factor first.')
  }
  return { kind: 'operator', id, email, role, signedInAt: session.authenticatedAt }
}

/**
 * Authenticates a client by an access token that was issued to the client itself.
 * @throws AdminProblem if the client has no scope of the management API.
 */
export async function authenticateClient(
  c: Context<AppEnv>,
  oauth: ServiceContext['oauth'],
  authorization: string | undefined,
): Promise<{ kind: 'client'; id: string; scopes: string[] }> {
  const { clientId, scopes } = await rejectAsProblem(() =>
    oauth.guard.authenticate('client', {
      authorization,
      cookie: undefined,
      csrfToken: undefined,
      dpop: c.req.header('dpop'),
      method: c.req.method,
      path: c.req.path,
    }),
  )
  const client = await oauth.clients.find(clientId)
  const held = client && client.revokedAt === null ? (client.scopes ?? []) : []
  // The client may have lost a scope since the token was issued.
  const admin = Object.keys(adminScopes()).filter(
    (scope) => scopes.includes(scope) && held.includes(scope),
  )
  // Not an attempt of an operator, so it gets no line in the audit log.
  if (admin.length === 0) {
    throw new AdminProblem('forbidden', 'This token has no scope of the management API.')
  }
  return { kind: 'client', id: clientId, scopes: admin }
}

/**
 * Runs an authentication, and converts its rejection, even one thrown synchronously, into a
 * problem.
 */
async function rejectAsProblem<T>(authenticate: () => T | Promise<T>): Promise<T> {
  try {
    return await authenticate()
  } catch (error) {
    if (isOAuthError(error, 'temporarily_unavailable')) throw error
    if (isOAuthError(error)) throw unauthenticated()
    throw error
  }
}

function unauthenticated(): AdminProblem {
  return new AdminProblem(
    'unauthenticated',
    'Send the access token of a client that an owner registered for the management API, or the session of an operator with its CSRF token.',
  )
}

async function readInput(
  c: Context<AppEnv>,
  operation: Operation,
  { ownerType }: OperationPath,
): Promise<unknown> {
  const query = readQuery(c)
  const given = c.req.param() as Record<string, string>
  const params = ownerType === null ? given : { ...given, owner: `${ownerType}:${given.owner}` }
  if (operation.route[0] === 'GET') return { ...query, ...params }
  if (Object.keys(query).length > 0) {
    throw new AdminProblem('invalid-request', 'Send the fields in the body, not in the query.')
  }
  const body = await readJsonObject(c)
  const twice = Object.keys(params).find((name) => Object.hasOwn(body, name))
  if (twice !== undefined) {
    throw new AdminProblem(
      'invalid-request',
      `\`${twice}\` is in the path: leave it out of the body.`,
    )
  }
  return { ...body, ...params }
}

/**
 * Reads the body as a JSON object. Without a body, the object is empty.
 * @throws AdminProblem if the body is something else.
 */
export async function readJsonObject(c: Context<AppEnv>): Promise<object> {
  const text = await readText(c)
  if (text === '') return {}
  const type = (c.req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new AdminProblem('unsupported-media-type', 'Send `content-type: application/json`.')
  }
  const body = parseJson(text)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AdminProblem('invalid-request', 'The body must be a JSON object.')
  }
  return body
}

function parseJson(text: string): unknown {
  // U+FFFD replaced invalid bytes.
  if (text.includes('\ufffd')) {
    throw new AdminProblem('invalid-request', 'The body is not UTF-8 text.')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AdminProblem('invalid-request', 'The body is not valid JSON.', { cause: error })
  }
}

function readQuery(c: Context<AppEnv>): Record<string, string> {
  const entries = Object.entries(c.req.queries())
  const repeated = entries.find(([, values]) => values.length > 1)
  if (repeated) {
    throw new AdminProblem('invalid-request', `\`${repeated[0]}\` was sent more than once.`)
  }
  return Object.fromEntries(entries.map(([name, [value = '']]) => [name, value]))
}

const KEY = /^[\x21-\x7e]{1,200}$/

function readKey(c: Context<AppEnv>): string | null {
  const key = c.req.header('idempotency-key') ?? null
  if (key === null || KEY.test(key)) return key
  throw new AdminProblem(
    'invalid-request',
    'Idempotency-Key must have 1 to 200 printable ASCII characters.',
  )
}

/** Responds with one JSON object per line. */
async function linesResponse(
  c: Context<AppEnv>,
  { pages }: JsonLinesResult,
  { logger }: ServiceContext,
): Promise<Response> {
  // Named here, because the log context has ended by then.
  const body = await createLinesBody(pages, (error) =>
    logger.error(
      { err: error, request_id: c.get('requestId') },
      'A response of the management API was cut off',
    ),
  )
  c.header('content-type', 'application/jsonl')
  return c.body(body)
}

/** Whether the request is for the management API, whose errors are problem documents. */
export function isAdminApi({ req: { path } }: Context<AppEnv>): boolean {
  return path.startsWith(`${ADMIN_API_PATH}/`) || path.startsWith(`${GATE_API_PATH}/`)
}

/**
 * Responds with the problem for an error, including errors that occurred before a route was
 * reached.
 */
export function respondToAdminError(
  c: Context<AppEnv>,
  error: unknown,
  context: ServiceContext,
): Response {
  const { message } = error instanceof Error ? error : new Error()
  if (isHttpError(error) && error.code === 'payload_too_large') {
    return problemResponse(c, new AdminProblem('too-large', message), context)
  }
  if (isHttpError(error) || error instanceof UnreadableRequest) {
    return problemResponse(c, new AdminProblem('invalid-request', message), context)
  }
  return problemResponse(c, toProblem(error), context)
}

/** Responds with a problem document (RFC 9457). */
function problemResponse(
  c: Context<AppEnv>,
  problem: AdminProblem,
  { url, logger }: ServiceContext,
): Response {
  const { status } = problem
  if (problem.problem === 'unexpected') {
    logger.error({ err: problem.cause }, 'A request to the management API failed unexpectedly')
  }
  c.header('cache-control', 'no-store')
  c.header('content-type', 'application/problem+json')
  if (status === 401) c.header('www-authenticate', 'Bearer')
  if (status === 503) c.header('retry-after', '1')
  const body = {
    type: `${url}${ADMIN_API_PATH}/problems#${problem.problem}`,
    title: PROBLEMS[problem.problem].title,
    status,
    detail: problem.message,
    ...(problem.fields && { errors: problem.fields }),
    ...problem.members,
  }
  return c.body(JSON.stringify(body), status as ContentfulStatusCode)
}
