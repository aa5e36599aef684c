import type { HttpRequest, HttpResponse } from '@tollgate/http'
import type { ServerContext } from '../../context.ts'
import { equalSecrets, hmac, sha256 } from '../../crypto.ts'
import { CsrfMismatch, TooManyRequests, Unauthenticated } from '../../errors.ts'
import { type Form, parseForm, readForm, requireParam } from '../../http/form.ts'
import { assertSameOrigin } from '../../http/same-origin.ts'
import { userCodeGuesses } from '../../limits/policies.ts'
import { findSignedIn, type Person, type SignedInPerson } from '../../users/users.ts'
import { findByUserCode, openDeviceRequest } from './device-request.ts'
import { askToApprove, decide, type OpenRequest, showDeviceView } from './question.ts'
import { parseUserCode } from './user-code.ts'

/** Longer ones are shown in no field. */
const LONGEST_TYPED = 20

/**
 * GET /oauth/device: the field for the code. Nothing is looked up here, even when the address has a code: a link
 * must neither use up somebody's attempts nor bring them past the moment when they compare it.
 */
export async function showDevicePage(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const person = await requirePerson(request, context)
  const typed = parseForm(request.query).get('user_code') ?? ''
  return askForCode({ typed, problem: null, status: 200 }, person, context)
}

/** POST /oauth/device: a code that was typed, or one of the two buttons after it. */
export async function answerDevice(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const form = await readForm(request)
  const person = await requirePerson(request, context)
  const id = parseForm(request.query).get('interaction')
  return id === undefined ? takeCode(form, person, context) : decide(id, form, person, context)
}

async function requirePerson(
  request: HttpRequest,
  context: ServerContext,
): Promise<SignedInPerson> {
  const person = await findSignedIn(context.options, request)
  if (person) return person
  throw new Unauthenticated('Unauthenticated.')
}

interface Retry {
  readonly typed: string
  readonly problem: string | null
  readonly status: number
}

function askForCode(
  { typed, problem, status }: Retry,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const userCode = parseUserCode(typed) ?? typed.slice(0, LONGEST_TYPED)
  const action = `${context.options.basePath}/device`
  const [csrfToken = ''] = csrfTokens(person, context)
  return showDeviceView({ step: 'enter', userCode, problem, action, csrfToken }, status, context)
}

/** The first is for new pages; those of a page from before the secret was changed are good as well. */
function csrfTokens({ id, sessionId }: Person, { keyring }: ServerContext): string[] {
  const keys = keyring.macKeys('approval forms')
  return keys.map((key) => hmac(key, ['device', id, sessionId].join('\n')))
}

/** A good code leads to the question, in a record of its own as on the approval screen. */
async function takeCode(form: Form, person: Person, context: ServerContext): Promise<HttpResponse> {
  const csrfToken = form.get('csrf_token') ?? ''
  if (!csrfTokens(person, context).some((text) => equalSecrets(csrfToken, text))) {
    throw new CsrfMismatch('The form does not carry the token of the page it came from.')
  }
  const typed = requireParam(form, 'user_code')
  const userCode = parseUserCode(typed)
  try {
    // For the person, whatever sessions they have (RFC 8628 §5.1).
    const limit = { ...userCodeGuesses, name: `user code:${sha256(person.id)}` }
    const found = await context.guessing.check(
      [limit],
      async () => userCode && (await openByUserCode(userCode, context)),
      (opened) => (opened ? 'right' : 'wrong'),
    )
    if (found) return askToApprove(found, person, context)
  } catch (error) {
    if (!(error instanceof TooManyRequests)) throw error
    return askToWait(error, person, context)
  }
  const problem =
    'This code is unknown, was used, or has expired. Look again at what your device shows.'
  return askForCode({ typed, problem, status: 400 }, person, context)
}

async function askToWait(
  error: TooManyRequests,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const minutes = Math.ceil(error.retryAfterSeconds / 60)
  const problem = `Too many codes were tried. Wait ${minutes} minutes and start again.`
  const page = await askForCode({ typed: '', problem, status: 429 }, person, context)
  return { ...page, headers: { ...page.headers, ...error.headers() } }
}

/** One answer for codes that are unknown, expired, answered or of a deleted client. */
async function openByUserCode(
  userCode: string,
  context: ServerContext,
): Promise<OpenRequest | null> {
  const found = await findByUserCode(userCode, context)
  const request = found && (await openDeviceRequest(found.hash, context))
  const client = request && (await context.clients.find(request.clientId))
  return client && { hash: found.hash, userCode, client, request }
}
