import { type HttpRequest, type HttpResponse, wantsHtml } from '@tollgate/http'
import { describeApplication, describeResources } from '../authorization/asking-application.ts'
import { openInteraction, screenAddress } from '../authorization/decision.ts'
import { expandRequest, type ReceivedRequest } from '../authorization/expand-request.ts'
import { judgeSignIn } from '../authorization/fresh-sign-in.ts'
import { describeScopes, findChoice, withoutDeclined } from '../authorization/optional-scopes.ts'
import {
  type AuthorizationRequest,
  parseAuthorizationRequest,
  type ReturnAddress,
  requireReturnAddress,
} from '../authorization/request.ts'
import { authorizationErrorResponse, authorizationResponse } from '../authorization/response.ts'
import { withSignIn } from '../authorization/sign-in-details.ts'
import {
  BETTER_SIGN_IN,
  formatSignInMarker,
  OTHER_ACCOUNT,
  readSignInMarker,
  SIGN_IN_MARKER,
} from '../authorization/sign-in-marker.ts'
import {
  addressOf,
  otherAccountLocation,
  queryToReturnTo,
  signInLocation,
} from '../authorization/sign-in-page.ts'
import { declinedBefore, mayApproveSilently } from '../authorization/silent-approval.ts'
import { claimAnswer, endRequest } from '../authorization/single-answer.ts'
import { isLoopback } from '../clients/settings/checks.ts'
import type { ServerContext } from '../context.ts'
import { ConsentRequired, isOAuthError, LoginRequired, Unauthenticated } from '../errors.ts'
import type { AuthorizationResult } from '../grants/grant.ts'
import { parseForm } from '../http/form.ts'
import { htmlPage, redirectDestination, redirectSource } from '../http/html.ts'
import { redirect } from '../http/responses.ts'
import { isElsewhere } from '../resources/requested.ts'
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
  const query = parseForm(request.query)
  const received = await expandRequest(query, context)
  const address = await requireReturnAddress(received.params, context)
  try {
    const askedAt = readSignInMarker(query, context)
    const asked = parseAuthorizationRequest(received, address, askedAt, context)
    const response = await retryIfSignedOut(
      context,
      () => findSignedIn(context.options, request),
      async (person, mark) => {
        if (asked.prompts.none) await assertMayAsk(person, asked, context)
        if (isSomebodyElse(person, asked, context)) return askForOther(request, asked, context)
        if (mayDoBetter(person, request, asked, context)) {
          return signIn(request, asked, context, BETTER_SIGN_IN)
        }
        return needsSignIn(person, asked, context)
          ? signIn(request, asked, context)
          : respondTo(request, { person, mark, asked }, context)
      },
    )
    return response ?? (await signIn(request, asked, context))
  } catch (error) {
    return sendError(error, address, received, context)
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

/**
 * Whether a request that shows no screen may learn anything of the person. Otherwise any page could find out who
 * somebody is, or when they signed in, by asking for one guess after the other.
 */
async function assertMayAsk(
  person: Person,
  { client, redirectTo, shownScopes: scopes, details }: AuthorizationRequest,
  { consents, options: { optionalScopes: optional } }: ServerContext,
): Promise<void> {
  const elsewhere = isElsewhere(details)
  const question = { client, redirectTo, scopes, elsewhere, optional, askAgain: false }
  const isApproved = (consent: Consent | null) => mayApproveSilently({ ...question, consent })
  if (isApproved(consents.recall(person.id, client.id))) return
  if (isApproved(await consents.read(person.id, client.id))) return
  throw new ConsentRequired('The user has to approve this request')
}

/** The request names whom it means, or how they must have signed in, and somebody else is there. */
function isSomebodyElse(
  person: SignedInPerson,
  { client, received }: AuthorizationRequest,
  context: ServerContext,
): boolean {
  const { personCheckers } = context.features
  return personCheckers.some(
    (feature) => feature.acceptsPerson?.(received.params, client, person, context) === false,
  )
}

/** Asks once: whoever comes back as somebody else again has decided so. */
function askForOther(
  request: HttpRequest,
  asked: AuthorizationRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const askedBefore = parseForm(request.query).has(OTHER_ACCOUNT)
  if (!askedBefore) return signIn(request, asked, context, OTHER_ACCOUNT)
  throw new LoginRequired(
    'The user who signed in is not the one the request means, or not as it demands',
  )
}

/** The request wishes for a better sign-in, and the person was not asked for one yet. */
function mayDoBetter(
  person: SignedInPerson,
  request: HttpRequest,
  { details, prompts }: AuthorizationRequest,
  context: ServerContext,
): boolean {
  const { signInCheckers } = context.features
  if (signInCheckers.length === 0 || prompts.none) return false
  if (signInCheckers.every((feature) => feature.acceptsSignIn?.(details, person))) return false
  return !parseForm(request.query).has(BETTER_SIGN_IN)
}

/** Who is there, since when that is known, and what they are asked. */
interface PersonAsked {
  readonly person: SignedInPerson
  readonly mark: SignInMark
  readonly asked: AuthorizationRequest
}

/** Null when the person was signed out everywhere meanwhile. */
async function respondTo(
  request: HttpRequest,
  { person, mark, asked }: PersonAsked,
  context: ServerContext,
): Promise<HttpResponse | null> {
  const approved = await approveSilently(asked, person, context)
  if (!approved) {
    if (asked.prompts.none) throw new ConsentRequired('The user has to approve this request')
    return showConsent(request, asked, person, context)
  }
  const { token, params } = approved
  if (await context.feed.signedOutSince(person.id, mark.signOutMark)) {
    // A code that nobody was told is worth nothing; a token is ended as well.
    if (token) await revokeTokens({ id: token.id }, context)
    return null
  }
  const { ticket } = asked.received
  if (ticket !== null) await claimAnswer(ticket, token, context)
  if (token) emitTokenCreated(token, context)
  return authorizationResponse(asked, params, context.options.issuer)
}

/** Null when the person has to be asked. */
async function approveSilently(
  asked: AuthorizationRequest,
  person: SignedInPerson,
  context: ServerContext,
): Promise<AuthorizationResult | null> {
  const { client, shownScopes: shown } = asked
  if (client.firstParty) {
    const choice = await findChoice({ userId: person.id, clientId: client.id, shown }, context)
    return approveBy(choice, asked, person, context)
  }
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
  person: SignedInPerson,
  context: ServerContext,
): Promise<AuthorizationResult | null> {
  const { client, redirectTo, redirectUri, codeChallenge, shownScopes } = asked
  const { optionalScopes: optional } = context.options
  const elsewhere = isElsewhere(asked.details)
  const askAgain = asked.prompts.consent
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
  const { scopes, details: left } = withoutDeclined(asked, declinedBefore(question))
  const details = withSignIn(left, person, client)
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
  request: HttpRequest,
  asked: AuthorizationRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const query = queryToReturnTo(request, await asked.received.keep?.())
  const pending = await openInteraction(asked, person, context)
  const { pages, basePath } = context.options
  const { client, shownScopes: shown } = asked
  const before = await findChoice({ userId: person.id, clientId: client.id, shown }, context)
  const page = await pages.consent({
    ...describeApplication(client, context),
    userId: person.id,
    otherAccount: otherAccountLocation(context, addressOf(request, query)),
    scopes: describeScopes(shown, before, context),
    resources: describeResources(asked.details, context),
    destination: redirectDestination(asked.redirectTo),
    toOwnComputer: leadsToOwnComputer(asked.redirectTo, context.options.issuerUrl),
    opensProgram: programOf(asked.redirectTo),
    action: screenAddress(`${basePath}/authorize`, pending, query),
    csrfToken: pending.csrfToken,
  })
  return htmlPage(page, 200, redirectSource(asked.redirectTo))
}

/** Not where this server is on the same computer, and answers there itself. */
function leadsToOwnComputer(redirectTo: string, issuer: URL): boolean {
  const { protocol, hostname, origin } = new URL(redirectTo)
  const isWeb = protocol === 'http:' || protocol === 'https:'
  return isWeb && isLoopback(hostname) && origin !== issuer.origin
}

/** The scheme that a program of the person's device answers to; null for a web address. */
function programOf(redirectTo: string): string | null {
  const { protocol } = new URL(redirectTo)
  return protocol === 'http:' || protocol === 'https:' ? null : protocol
}

/** The application signs the person in and sends them back to this very request. */
async function signIn(
  request: HttpRequest,
  asked: AuthorizationRequest,
  context: ServerContext,
  note?: typeof OTHER_ACCOUNT | typeof BETTER_SIGN_IN,
): Promise<HttpResponse> {
  if (asked.prompts.none) throw new LoginRequired('The user is not signed in')
  if (!wantsHtml(request) && request.header('accept')?.includes('application/json')) {
    throw new Unauthenticated('Unauthenticated.')
  }
  const { params, keep } = asked.received
  const query = queryToReturnTo(request, await keep?.())
  const { again, maxAge, askedAt } = asked.signIn
  const demanded = again || maxAge !== null || askedAt !== null
  if (note) query.set(note, 'asked')
  if (demanded) query.set(SIGN_IN_MARKER, formatSignInMarker(query, context))
  const hints = Object.fromEntries(
    ['login_hint', 'ui_locales'].flatMap((name) => {
      const value = params.get(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const acrValues = asked.details?.acrValues
  const wishes = acrValues ? { ...hints, acr_values: acrValues.join(' ') } : hints
  const page = signInLocation(context, addressOf(request, query), wishes)
  // For sign-in pages that would send people who are signed in straight back.
  return redirect(demanded || note ? `${page}&prompt=login` : page)
}

/** The address is proven, so the client learns what was wrong; our own failures stay ours. */
async function sendError(
  error: unknown,
  address: ReturnAddress,
  received: ReceivedRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  if (!isOAuthError(error) || error.code === 'unauthenticated') throw error
  // Another tab was answered: the client has heard of this request.
  if (error.code === 'invalid_request_uri') throw error
  await endRequest(received.ticket, context)
  return authorizationErrorResponse(address, error, context.options.issuer)
}
