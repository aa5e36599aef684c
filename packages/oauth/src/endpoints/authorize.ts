import { type HttpRequest, type HttpResponse, wantsHtml } from '@tollgate/http'
import { buildDecisionFormUrl, openInteraction } from '../authorization/decision.ts'
import {
  expandRequest,
  type ReceivedAuthorizationRequest,
} from '../authorization/expand-request.ts'
import {
  checkSignInFreshness,
  formatSignInMarker,
  OTHER_ACCOUNT_PARAM,
  readSignInMarker,
  SIGN_IN_MARKER_PARAM,
  STRONGER_SIGN_IN_PARAM,
} from '../authorization/fresh-sign-in.ts'
import {
  describeScopes,
  findEarlierConsent,
  removeDeclinedScopes,
} from '../authorization/optional-scopes.ts'
import { choosePageLanguage } from '../authorization/page-language.ts'
import {
  type AuthorizationRequest,
  parseAuthorizationRequest,
  type ResponseTarget,
  requireResponseTarget,
} from '../authorization/request.ts'
import {
  consumeTicketAfterError,
  consumeTicketForResponse,
} from '../authorization/request-ticket.ts'
import { describeApplication, describeResources } from '../authorization/requesting-application.ts'
import {
  createAuthorizationErrorResponse,
  createAuthorizationResponse,
} from '../authorization/response.ts'
import { addSignInDetails } from '../authorization/sign-in-details.ts'
import {
  buildOtherAccountUrl,
  buildReturnQuery,
  buildSignInUrl,
  buildUrlWithQuery,
} from '../authorization/sign-in-page.ts'
import {
  listPreviouslyDeclinedScopes,
  mayApproveSilently,
} from '../authorization/silent-approval.ts'
import { isLoopback } from '../clients/settings/checks.ts'
import type { ServerContext } from '../context.ts'
import { ConsentRequired, isOAuthError, LoginRequired, Unauthenticated } from '../errors.ts'
import type { AuthorizationResult } from '../grants/grant.ts'
import { parseForm } from '../http/form.ts'
import { createHtmlPage, formatRedirectTarget, toRedirectCspSource } from '../http/html.ts'
import { redirectResponse } from '../http/responses.ts'
import type { PageText } from '../pages/messages/messages.ts'
import { isForNamedResources } from '../resources/requested.ts'
import type { Consent } from '../storage/records.ts'
import { emitTokenCreated } from '../tokens/issue.ts'
import { revokeTokens } from '../tokens/revoke.ts'
import { clientServesUser } from '../users/providers.ts'
import { retryIfSignedOut, type SignInMark } from '../users/retry-if-signed-out.ts'
import { findSignedIn, type Person, type SignedInPerson } from '../users/signed-in.ts'

/**
 * Handles GET /oauth/authorize (RFC 6749 §3.1): shows the approval screen, or immediately redirects
 * back if no approval is needed.
 */
export async function handleAuthorizationRequest(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const query = parseForm(request.query)
  const received = await expandRequest(query, context)
  const address = await requireResponseTarget(received.params, context)
  try {
    const askedAt = readSignInMarker(query, context)
    const authRequest = parseAuthorizationRequest(received, address, askedAt, context)
    const response = await retryIfSignedOut(
      context,
      () => findSignedIn(context.options, request, authRequest.client.settings.provider),
      async (person, mark) => {
        if (authRequest.prompts.none) await assertEarlierApproval(person, authRequest, context)
        if (isWrongPerson(person, authRequest, context))
          return askForOtherAccount(request, authRequest, context)
        if (wantsStrongerSignIn(person, request, authRequest, context)) {
          return signIn(request, authRequest, context, STRONGER_SIGN_IN_PARAM)
        }
        return needsSignIn(person, authRequest, context)
          ? signIn(request, authRequest, context)
          : respondToSignedIn(request, { person, mark, authRequest }, context)
      },
    )
    return response ?? (await signIn(request, authRequest, context))
  } catch (error) {
    const { t } = choosePageLanguage(request, received.params.get('ui_locales'), context)
    return sendError(error, { address, received, t }, context)
  }
}

/**
 * Whether the person has to sign in again.
 * @throws LoginRequired if signing in again would not help
 */
function needsSignIn(
  person: SignedInPerson,
  authRequest: AuthorizationRequest,
  { options }: ServerContext,
): boolean {
  switch (checkSignInFreshness(authRequest.signIn, person.authenticatedAt, options.clock.now())) {
    case 'good':
      return false
    case 'sign in':
      return true
    case 'came back without':
      throw new LoginRequired('The user came back without signing in again')
    case 'cannot tell':
      options.logger.warn(
        'A request with prompt=login or max_age was rejected: the signed-in user (users.fromRequest or signedIn) must include authenticatedAt, a Date that is not in the future.',
      )
      throw new LoginRequired('This server cannot tell when the user signed in')
  }
}

/**
 * Requires an earlier approval for a request with `prompt=none`. Otherwise any page could find out
 * who a person is, or when they signed in, by trying one guess after the other.
 */
async function assertEarlierApproval(
  person: Person,
  { client, redirectTo, shownScopes: scopes, details }: AuthorizationRequest,
  { consents, options: { optionalScopes: optional } }: ServerContext,
): Promise<void> {
  const elsewhere = isForNamedResources(details)
  const question = { client, redirectTo, scopes, elsewhere, optional, askAgain: false }
  const isApproved = (consent: Consent | null) => mayApproveSilently({ ...question, consent })
  if (isApproved(consents.recall(person.id, client.id))) return
  if (isApproved(await consents.read(person.id, client.id))) return
  throw new ConsentRequired('The user has to approve this request')
}

/**
 * Whether the signed-in person is the wrong one: the client serves another user provider, or the
 * request demands another person or another way of signing in.
 */
function isWrongPerson(
  person: SignedInPerson,
  { client, received }: AuthorizationRequest,
  context: ServerContext,
): boolean {
  const { features, providers } = context
  if (!clientServesUser(client, person.id, providers)) return true
  return features.personCheckers.some(
    (feature) => feature.acceptsPerson?.(received.params, client, person, context) === false,
  )
}

/**
 * Asks the person to sign in with another account, but only once: if they come back with the same
 * one, that is their decision.
 */
function askForOtherAccount(
  request: HttpRequest,
  authRequest: AuthorizationRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const askedBefore = parseForm(request.query).has(OTHER_ACCOUNT_PARAM)
  if (!askedBefore) return signIn(request, authRequest, context, OTHER_ACCOUNT_PARAM)
  throw new LoginRequired(
    'The signed-in user is not the required one, or did not sign in as the request requires',
  )
}

/**
 * Whether to ask for a stronger sign-in: the request prefers one, and the person has not been asked
 * yet.
 */
function wantsStrongerSignIn(
  person: SignedInPerson,
  request: HttpRequest,
  { details, prompts }: AuthorizationRequest,
  context: ServerContext,
): boolean {
  const { signInCheckers } = context.features
  if (signInCheckers.length === 0 || prompts.none) return false
  if (signInCheckers.every((feature) => feature.acceptsSignIn?.(details, person))) return false
  return !parseForm(request.query).has(STRONGER_SIGN_IN_PARAM)
}

/**
 * The signed-in person, a mark from before the sign-in was read (so that a later sign-out is
 * noticed), and the request that the person has to decide on.
 */
interface SignedInRequest {
  readonly person: SignedInPerson
  readonly mark: SignInMark
  readonly authRequest: AuthorizationRequest
}

/**
 * Responds to the request. Returns `null` if the person was signed out everywhere in the meantime.
 */
async function respondToSignedIn(
  request: HttpRequest,
  { person, mark, authRequest }: SignedInRequest,
  context: ServerContext,
): Promise<HttpResponse | null> {
  const approved = await approveSilently(authRequest, person, context)
  if (!approved) {
    if (authRequest.prompts.none) throw new ConsentRequired('The user has to approve this request')
    return showConsent(request, authRequest, person, context)
  }
  const { token, params } = approved
  if (await context.feed.signedOutSince(person.id, mark.signOutMark)) {
    // The code is worthless because it was never sent; a token could already be in use elsewhere
    // and has to be revoked.
    if (token) await revokeTokens({ id: token.id }, context)
    return null
  }
  const { ticket } = authRequest.received
  if (ticket !== null) await consumeTicketForResponse(ticket, token, context)
  if (token) {
    emitTokenCreated(token, context)
    await context.clientUses.note(token.clientId)
  }
  const { t } = choosePageLanguage(request, authRequest.received.params.get('ui_locales'), context)
  return createAuthorizationResponse(authRequest, params, context.options.issuer, t)
}

/**
 * Approves without asking if an earlier consent allows it. Returns `null` if the person has to be
 * asked.
 */
async function approveSilently(
  authRequest: AuthorizationRequest,
  person: SignedInPerson,
  context: ServerContext,
): Promise<AuthorizationResult | null> {
  const { client, shownScopes: shown } = authRequest
  if (client.firstParty) {
    const choice = await findEarlierConsent(
      { userId: person.id, clientId: client.id, shown },
      context,
    )
    return approveWithConsent(choice, authRequest, person, context)
  }
  const recalled = context.consents.recall(person.id, client.id)
  const approved = recalled && (await approveWithConsent(recalled, authRequest, person, context))
  if (approved) return approved
  const consent = await context.consents.read(person.id, client.id)
  return approveWithConsent(consent, authRequest, person, context)
}

/**
 * Approves on the basis of this consent. Returns `null` if the consent does not cover the request,
 * or was withdrawn or changed since it was read.
 */
async function approveWithConsent(
  consent: Consent | null,
  authRequest: AuthorizationRequest,
  person: SignedInPerson,
  context: ServerContext,
): Promise<AuthorizationResult | null> {
  const { client, redirectTo, redirectUri, codeChallenge, shownScopes } = authRequest
  const { optionalScopes: optional } = context.options
  const elsewhere = isForNamedResources(authRequest.details)
  const askAgain = authRequest.prompts.consent
  const question = {
    client,
    redirectTo,
    scopes: shownScopes,
    elsewhere,
    consent,
    optional,
    askAgain,
  }
  if (!mayApproveSilently(question)) return null
  const { scopes, details: left } = removeDeclinedScopes(
    authRequest,
    listPreviouslyDeclinedScopes(question),
  )
  const details = addSignInDetails(left, person, client)
  const approved = { client, userId: person.id, redirectUri, scopes, codeChallenge, details }
  const result = await authRequest.response.prepare(approved, context)
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
  request: HttpRequest,
  authRequest: AuthorizationRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const query = buildReturnQuery(request, await authRequest.received.keep?.())
  const pending = await openInteraction(authRequest, person, context)
  const { pages, basePath } = context.options
  const { client, shownScopes: shown } = authRequest
  const before = await findEarlierConsent(
    { userId: person.id, clientId: client.id, shown },
    context,
  )
  const page = choosePageLanguage(request, authRequest.received.params.get('ui_locales'), context)
  const screen = await pages.consent({
    ...page.view,
    ...describeApplication(client, context),
    userId: person.id,
    otherAccount: buildOtherAccountUrl(context, buildUrlWithQuery(request, query)),
    scopes: describeScopes(shown, before, page.view.language, context),
    resources: describeResources(authRequest.details, context),
    destination: formatRedirectTarget(authRequest.redirectTo),
    toOwnComputer: redirectsToOwnComputer(authRequest.redirectTo, context.options.issuerUrl),
    opensProgram: findAppScheme(authRequest.redirectTo),
    action: buildDecisionFormUrl(`${basePath}/authorize`, pending, query),
    csrfToken: pending.csrfToken,
  })
  return createHtmlPage(screen, 200, toRedirectCspSource(authRequest.redirectTo))
}

/**
 * Whether the redirect leads to a program on the person's own computer. `false` if it leads to this
 * server running on localhost.
 */
function redirectsToOwnComputer(redirectTo: string, issuer: URL): boolean {
  const { protocol, hostname, origin } = new URL(redirectTo)
  const isWeb = protocol === 'http:' || protocol === 'https:'
  return isWeb && isLoopback(hostname) && origin !== issuer.origin
}

/** Returns the URL scheme that opens a program on the person's device. `null` for a web address. */
function findAppScheme(redirectTo: string): string | null {
  const { protocol } = new URL(redirectTo)
  return protocol === 'http:' || protocol === 'https:' ? null : protocol
}

/** Redirects to the application's sign-in page, which sends the person back to this request. */
async function signIn(
  request: HttpRequest,
  authRequest: AuthorizationRequest,
  context: ServerContext,
  note?: typeof OTHER_ACCOUNT_PARAM | typeof STRONGER_SIGN_IN_PARAM,
): Promise<HttpResponse> {
  if (authRequest.prompts.none) throw new LoginRequired('The user is not signed in')
  if (!wantsHtml(request) && request.header('accept')?.includes('application/json')) {
    throw new Unauthenticated('Unauthenticated.')
  }
  const { params, keep } = authRequest.received
  const query = buildReturnQuery(request, await keep?.())
  const { again, maxAge, askedAt } = authRequest.signIn
  const demanded = again || maxAge !== null || askedAt !== null
  if (note) query.set(note, 'asked')
  if (demanded) query.set(SIGN_IN_MARKER_PARAM, formatSignInMarker(query, context))
  const hints = Object.fromEntries(
    ['login_hint', 'ui_locales'].flatMap((name) => {
      const value = params.get(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const acrValues = authRequest.details?.acrValues
  const wishes = acrValues ? { ...hints, acr_values: acrValues.join(' ') } : hints
  const { provider } = authRequest.client.settings
  const page = buildSignInUrl(context, buildUrlWithQuery(request, query), {
    ...wishes,
    ...(provider !== undefined && { provider }),
  })
  // `prompt=login` keeps the sign-in page from sending people who are already signed in straight
  // back.
  return redirectResponse(demanded || note ? `${page}&prompt=login` : page)
}

interface FailedRequest {
  readonly address: ResponseTarget
  readonly received: ReceivedAuthorizationRequest
  readonly t: PageText
}

/**
 * Reports an error to the client by redirect, since its redirect URI is known to be registered.
 * Internal errors are rethrown.
 */
async function sendError(
  error: unknown,
  { address, received, t }: FailedRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  if (!isOAuthError(error) || error.code === 'unauthenticated') throw error
  // Another tab has already answered this pushed request, so the client has received its response.
  if (error.code === 'invalid_request_uri') throw error
  await consumeTicketAfterError(received.ticket, context)
  return createAuthorizationErrorResponse(address, error, context.options.issuer, t)
}
