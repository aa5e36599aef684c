import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../../context.ts'
import { equalSecrets, hmac } from '../../crypto.ts'
import { CsrfMismatch, InvalidRequest } from '../../errors.ts'
import { type Form, parseForm, readForm } from '../../http/form.ts'
import { htmlPage, redirectDestination, redirectSource } from '../../http/html.ts'
import { redirect } from '../../http/responses.ts'
import { assertSameOrigin } from '../../http/same-origin.ts'
import { endHashedSession } from '../../tokens/revoke.ts'
import { endOwnSession, findSignedIn, type Person } from '../../users/users.ts'
import { isOfSession, type LogoutRequest, readLogoutRequest } from './logout-request.ts'
import type { OpenIdSettings } from './settings.ts'

const LONGEST_QUERY = 8000

/** GET and POST /oauth/logout (OpenID Connect RP-Initiated Logout 1.0). */
export function logoutEndpoint(settings: OpenIdSettings) {
  return async (request: HttpRequest, context: ServerContext): Promise<HttpResponse> => {
    if (request.method !== 'POST') return begin(request, settings, context)
    const form = await readForm(request)
    return form.has('csrf_token')
      ? decide(request, form, context)
      : askAgainByGet(request, form, context)
  }
}

async function begin(
  request: HttpRequest,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<HttpResponse> {
  const asked = await readLogoutRequest(parseForm(request.query), context)
  const person = await findSignedIn(context.options, request)
  if (!person) return respond(asked, context)
  const atOnce = isNavigation(request) && asked.problem === null
  if (atOnce && (await isOfSession(asked, person, settings, context))) {
    return signOut(request, asked, person, context)
  }
  return question(asked, person, context)
}

/**
 * Browsers keep the session's cookie back from a form of another site, so the person is sent here again by GET,
 * as at the authorization endpoint.
 */
function askAgainByGet(request: HttpRequest, form: Form, context: ServerContext): HttpResponse {
  const query = new URLSearchParams([...parseForm(request.query), ...form]).toString()
  if (query.length > LONGEST_QUERY) {
    throw new InvalidRequest(`The request is longer than ${LONGEST_QUERY} characters`)
  }
  return redirect(`${context.options.basePath}/logout?${query}`)
}

/** The two buttons of the question. Whether the client may have the person back is judged once more. */
async function decide(
  request: HttpRequest,
  form: Form,
  context: ServerContext,
): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const asked = await readLogoutRequest(form, context)
  const person = await findSignedIn(context.options, request)
  if (!person) return respond(asked, context)
  const given = form.get('csrf_token') ?? ''
  if (!csrfTokens(person, context).some((text) => equalSecrets(given, text))) {
    throw new CsrfMismatch('The form does not carry the token of the page it came from.')
  }
  const decision = form.get('decision')
  if (decision === 'sign_out') return signOut(request, asked, person, context)
  if (decision === 'stay') return resultPage(true, asked, context)
  throw new InvalidRequest('decision must be sign_out or stay')
}

/** Clients first: should the application fail, the person sees it and tries again, and nobody was forgotten. */
async function signOut(
  request: HttpRequest,
  asked: LogoutRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  if (person.sessionId !== null) await endHashedSession(person.sessionId, context)
  const cookies = await endOwnSession(context.options, request)
  const response = await respond(asked, context)
  const setCookie = [...cookies, context.cookies.clear()]
  return { ...response, headers: { ...response.headers, 'set-cookie': setCookie } }
}

async function respond(asked: LogoutRequest, context: ServerContext): Promise<HttpResponse> {
  return asked.redirectTo === null ? resultPage(false, asked, context) : redirect(asked.redirectTo)
}

async function resultPage(
  stillSignedIn: boolean,
  { locales }: LogoutRequest,
  { options: { pages } }: ServerContext,
): Promise<HttpResponse> {
  return htmlPage(await pages.signedOut({ stillSignedIn, locales }), 200)
}

async function question(
  asked: LogoutRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const { client, redirectTo, problem, fields, locales } = asked
  const { pages, basePath } = context.options
  const page = await pages.signOut({
    client,
    userId: person.id,
    destination: redirectTo === null ? null : redirectDestination(redirectTo),
    problem,
    action: `${basePath}/logout`,
    fields: { ...fields, csrf_token: csrfTokens(person, context)[0] ?? '' },
    locales,
  })
  return htmlPage(page, 200, redirectTo === null ? null : redirectSource(redirectTo))
}

/** A picture, a frame or a page that is loaded in advance signs nobody out, whatever it sends. */
function isNavigation(request: HttpRequest): boolean {
  const isAs = (name: string, value: string) => (request.header(name) ?? value) === value
  const isAhead = request.header('sec-purpose') ?? request.header('purpose')
  return (
    request.method === 'GET' &&
    isAs('sec-fetch-mode', 'navigate') &&
    isAs('sec-fetch-dest', 'document') &&
    isAhead === null
  )
}

/** The first is for new pages; those of a page from before the secret was changed are good as well. */
function csrfTokens({ id, sessionId }: Person, { keyring, issuer }: ServerContext): string[] {
  const text = ['sign out', issuer, id, sessionId].join('\n')
  return keyring.macKeys('approval forms').map((key) => hmac(key, text))
}
