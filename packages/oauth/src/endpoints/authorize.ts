import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { openInteraction } from '../authorization/decision.ts'
import { judgeSignIn } from '../authorization/fresh-sign-in.ts'
import {
  type AuthorizationRequest,
  parseAuthorizationRequest,
  type ReturnAddress,
  requireReturnAddress,
} from '../authorization/request.ts'
import { authorizationErrorResponse, authorizationResponse } from '../authorization/response.ts'
import { formatSignInMarker, SIGN_IN_MARKER } from '../authorization/sign-in-marker.ts'
import { mayApproveSilently } from '../authorization/silent-approval.ts'
import type { ServerContext } from '../context.ts'
import { ConsentRequired, isOAuthError, LoginRequired, Unauthenticated } from '../errors.ts'
import type { AuthorizationResult } from '../grants/grant.ts'
import { parseForm } from '../http/form.ts'
import { htmlPage, redirectDestination, redirectSource, wantsHtml } from '../http/html.ts'
import { redirect } from '../http/responses.ts'
import type { Consent } from '../storage/records.ts'
import { emitTokenCreated } from '../tokens/issue.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import { retryIfSignedOut, type SignInMark } from '../users/retry-if-signed-out.ts'
import { findSignedIn, type Person, type SignedInPerson } from '../users/users.ts'

/** GET /oauth/authorize (RFC 6749 §3.1): shows the approval screen, or answers where none is needed. */
export async function authorize(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const params = parseForm(request.query)
  const address = await requireReturnAddress(params, context)
  try {
    const asked = parseAuthorizationRequest(params, address, context)
    const response = await retryIfSignedOut(
      context,
      () => findSignedIn(context.options, request),
      async (person, mark) =>
        needsSignIn(person, asked, context)
          ? signIn(request, asked, context)
          : respondTo(person, mark, asked, context),
    )
    return response ?? signIn(request, asked, context)
  } catch (error) {
    return sendError(error, address, context)
  }
}

/** Whether this sign-in is not enough. Throws where signing in again would not make it so. */
function needsSignIn(
  person: SignedInPerson,
  asked: AuthorizationRequest,
  { options }: ServerContext,
): boolean {
  switch (judgeSignIn(asked.signIn, person.authenticatedAt, options.clock.now())) {
    case 'good':
      return false
    case 'sign in':
      return true
    case 'came back without':
      throw new LoginRequired('The user came back without signing in again')
    case 'cannot tell':
      options.logger.warn(
        'A request with prompt=login or max_age was refused: give authenticatedAt with the signed-in user (users.fromRequest or signedIn), a Date that is not in the future.',
      )
      throw new LoginRequired('This server cannot tell when the user signed in')
  }
}

/** Null when the person was signed out everywhere meanwhile. */
async function respondTo(
  person: Person,
  mark: SignInMark,
  asked: AuthorizationRequest,
  context: ServerContext,
): Promise<HttpResponse | null> {
  const approved = await approveSilently(asked, person, context)
  if (!approved) {
    if (asked.prompts.none) throw new ConsentRequired('The user has to approve this request')
    return showConsent(asked, person, context)
  }
  const { token, params } = approved
  if (await context.feed.signedOutSince(person.id, mark.signOutMark)) {
    // A code that nobody was told is worth nothing; a token is ended as well.
    if (token) await revokeTokens({ id: token.id }, context)
    return null
  }
  if (token) emitTokenCreated(token, context)
  return authorizationResponse(asked, params, context.options.issuer)
}

/** Null when the person has to be asked. */
async function approveSilently(
  asked: AuthorizationRequest,
  person: Person,
  context: ServerContext,
): Promise<AuthorizationResult | null> {
  const { client } = asked
  if (client.firstParty) return approveBy(null, asked, person, context)
  const recalled = context.consents.recall(person.id, client.id)
  const approved = recalled && (await approveBy(recalled, asked, person, context))
  if (approved) return approved
  const consent = await context.consents.read(person.id, client.id)
  return approveBy(consent, asked, person, context)
}

/** Null when the consent does not allow it, or was withdrawn or changed since it was read. */
async function approveBy(
  consent: Consent | null,
  asked: AuthorizationRequest,
  person: Person,
  context: ServerContext,
): Promise<AuthorizationResult | null> {
  const { client, redirectTo, redirectUri, scopes, codeChallenge, prompts, details } = asked
  const askAgain = prompts.consent
  if (!mayApproveSilently({ client, redirectTo, scopes, askAgain, consent })) return null
  const approved = { client, userId: person.id, redirectUri, scopes, codeChallenge, details }
  const result = await asked.response.prepare(approved, context)
  const { code, token } = result
  if (consent) {
    if (!(await context.storage.consents.use(consent, result))) return null
  } else {
    if (code) await context.storage.codes.create(code)
    if (token) await context.storage.tokens.create(token)
  }
  return result
}

async function showConsent(
  asked: AuthorizationRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const pending = await openInteraction(asked, person, context)
  const { pages, scopes, basePath } = context.options
  const page = await pages.consent({
    client: asked.client,
    userId: person.id,
    scopes: asked.scopes.map((id) => ({ id, description: scopes[id] ?? id })),
    destination: redirectDestination(asked.redirectTo),
    action: `${basePath}/authorize?interaction=${pending.id}`,
    csrfToken: pending.csrfToken,
  })
  return htmlPage(page, 200, redirectSource(asked.redirectTo))
}

/** The application signs the person in and sends them back to this very request. */
function signIn(
  request: HttpRequest,
  asked: AuthorizationRequest,
  context: ServerContext,
): HttpResponse {
  if (asked.prompts.none) throw new LoginRequired('The user is not signed in')
  if (!wantsHtml(request) && request.header('accept')?.includes('application/json')) {
    throw new Unauthenticated('Unauthenticated.')
  }
  const params = new Map(parseForm(request.query))
  const { again, maxAge, askedAt } = asked.signIn
  const demanded = again || maxAge !== null || askedAt !== null
  if (demanded) params.set(SIGN_IN_MARKER, formatSignInMarker(params, context))
  const page = signInLocation(context, `${request.path}?${new URLSearchParams([...params])}`)
  // For sign-in pages that would send people who are signed in straight back.
  return redirect(demanded ? `${page}&prompt=login` : page)
}

export function signInLocation(context: ServerContext, returnTo: string): string {
  const { signInUrl } = context.options
  const separator = signInUrl.includes('?') ? '&' : '?'
  return `${signInUrl}${separator}return_to=${encodeURIComponent(returnTo)}`
}

/** The address is proven, so the client learns what was wrong; our own failures stay ours. */
function sendError(error: unknown, address: ReturnAddress, context: ServerContext): HttpResponse {
  if (!isOAuthError(error) || error.code === 'unauthenticated') throw error
  return authorizationErrorResponse(address, error, context.options.issuer)
}
