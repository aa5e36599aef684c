import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { choosePageLanguage } from '../../authorization/page-language.ts'
import type { ServerContext } from '../../context.ts'
import { areSecretsEqual, computeHmac } from '../../crypto.ts'
import { CsrfMismatch, InvalidRequest } from '../../errors.ts'
import { type Form, parseForm, readForm } from '../../http/form.ts'
import { createHtmlPage, formatRedirectTarget, toRedirectCspSource } from '../../http/html.ts'
import { redirectResponse } from '../../http/responses.ts'
import { assertSameOrigin } from '../../http/same-origin.ts'
import { endHashedSession } from '../../tokens/revoke.ts'
import { endApplicationSession, findSignedIn, type Person } from '../../users/signed-in.ts'
import { hintMatchesSession, type LogoutRequest, readLogoutRequest } from './logout-request.ts'
import type { OpenIdSettings } from './settings.ts'

const MAX_QUERY_LENGTH = 8000

/** Creates the handler for GET and POST /oauth/logout (OpenID Connect RP-Initiated Logout 1.0). */
export function createLogoutEndpoint(settings: OpenIdSettings) {
  return async (request: HttpRequest, context: ServerContext): Promise<HttpResponse> => {
    if (request.method !== 'POST') return begin(request, settings, context)
    const form = await readForm(request)
    return form.has('csrf_token')
      ? decide(request, form, context)
      : redirectToGet(request, form, context)
  }
}

async function begin(
  request: HttpRequest,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<HttpResponse> {
  const logoutRequest = await readLogoutRequest(parseForm(request.query), context)
  const person = await findSignedIn(
    context.options,
    request,
    logoutRequest.client?.settings.provider,
  )
  if (!person) return respond(request, logoutRequest, context)
  const atOnce = isNavigation(request) && logoutRequest.problem === null
  if (atOnce && (await hintMatchesSession(logoutRequest, person, settings, context))) {
    return signOut(request, logoutRequest, person, context)
  }
  return showQuestion(request, logoutRequest, person, context)
}

/**
 * Redirects a posted request to the same request by GET: browsers do not send the session cookie
 * with a form of another site, but they do with the redirect.
 */
function redirectToGet(request: HttpRequest, form: Form, context: ServerContext): HttpResponse {
  const query = new URLSearchParams([...parseForm(request.query), ...form]).toString()
  if (query.length > MAX_QUERY_LENGTH) {
    throw new InvalidRequest(`The request is longer than ${MAX_QUERY_LENGTH} characters`)
  }
  return redirectResponse(`${context.options.basePath}/logout?${query}`)
}

/** Handles the two buttons of the confirmation page. The redirect URI is checked again. */
async function decide(
  request: HttpRequest,
  form: Form,
  context: ServerContext,
): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const logoutRequest = await readLogoutRequest(form, context)
  const person = await findSignedIn(
    context.options,
    request,
    logoutRequest.client?.settings.provider,
  )
  if (!person) return respond(request, logoutRequest, context)
  const given = form.get('csrf_token') ?? ''
  if (!csrfTokens(person, context).some((text) => areSecretsEqual(given, text))) {
    throw new CsrfMismatch('The CSRF token of the form is missing or wrong.')
  }
  const decision = form.get('decision')
  if (decision === 'sign_out') return signOut(request, logoutRequest, person, context)
  if (decision === 'stay') return resultPage(request, true, logoutRequest, context)
  throw new InvalidRequest('decision must be sign_out or stay')
}

/**
 * Ends the session. The clients' logouts are queued first: if the application then fails, the
 * person sees it and retries, and no client is missed.
 */
async function signOut(
  request: HttpRequest,
  logoutRequest: LogoutRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  if (person.sessionId !== null) await endHashedSession(person.sessionId, context)
  const cookies = await endApplicationSession(context.options, request, person)
  const response = await respond(request, logoutRequest, context)
  const setCookie = [...cookies, context.cookies.clear()]
  return { ...response, headers: { ...response.headers, 'set-cookie': setCookie } }
}

async function respond(
  request: HttpRequest,
  logoutRequest: LogoutRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  return logoutRequest.redirectTo === null
    ? resultPage(request, false, logoutRequest, context)
    : redirectResponse(logoutRequest.redirectTo)
}

async function resultPage(
  request: HttpRequest,
  stillSignedIn: boolean,
  { uiLocales }: LogoutRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const { view } = choosePageLanguage(request, uiLocales, context)
  return createHtmlPage(await context.options.pages.signedOut({ ...view, stillSignedIn }), 200)
}

async function showQuestion(
  request: HttpRequest,
  logoutRequest: LogoutRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const { client, redirectTo, problem, fields, uiLocales } = logoutRequest
  const { pages, basePath } = context.options
  const { view, t } = choosePageLanguage(request, uiLocales, context)
  const page = await pages.signOut({
    ...view,
    client,
    userId: person.id,
    destination: redirectTo === null ? null : formatRedirectTarget(redirectTo),
    problem: problem && t(problem),
    action: `${basePath}/logout`,
    fields: { ...fields, csrf_token: csrfTokens(person, context)[0] ?? '' },
  })
  return createHtmlPage(page, 200, redirectTo === null ? null : toRedirectCspSource(redirectTo))
}

/** Whether a person opened the page. Images, frames and prefetching must not sign anyone out. */
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

/**
 * Returns the valid CSRF tokens, the one for new pages first. The others are for pages shown before
 * the secret was replaced.
 */
function csrfTokens({ id, sessionId }: Person, { keyring, issuer }: ServerContext): string[] {
  const text = ['sign out', issuer, id, sessionId].join('\n')
  return keyring.macKeys('approval forms').map((key) => computeHmac(key, text))
}
