import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { choosePageLanguage, type PageLanguage } from '../../authorization/page-language.ts'
import type { ServerContext } from '../../context.ts'
import { areSecretsEqual, computeHmac, sha256 } from '../../crypto.ts'
import { CsrfMismatch, TooManyRequests, Unauthenticated } from '../../errors.ts'
import { type Form, parseForm, readForm, requireParam } from '../../http/form.ts'
import { assertSameOrigin } from '../../http/same-origin.ts'
import { userCodeGuesses } from '../../limits/policies.ts'
import { clientServesUser } from '../../users/providers.ts'
import { findSignedIn, type Person, type SignedInPerson } from '../../users/signed-in.ts'
import { findDeviceRequestByUserCode, openDeviceRequest } from './device-request.ts'
import {
  type DeviceRequestToApprove,
  handleDeviceDecision,
  showDeviceApprovalPage,
  showDeviceView,
} from './question.ts'
import { parseUserCode } from './user-code.ts'

/** Longer input is cut before it is shown again. */
const MAX_INPUT_LENGTH = 20

/**
 * Handles GET /oauth/device: shows the page on which a person enters the code of their device. Does
 * not look the code up, even if the URL contains one: following a link must neither count as an
 * attempt nor skip the step in which the person compares the code.
 */
export async function showDevicePage(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const person = await requirePerson(request, context)
  const typed = parseForm(request.query).get('user_code') ?? ''
  const page = devicePageFor(request, context)
  return askForCode({ typed, problem: null, status: 200 }, page, person, context)
}

/**
 * Handles POST /oauth/device: a person has entered the code of their device, or has approved or
 * denied its request.
 */
export async function submitDevicePage(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  assertSameOrigin(request, context.options.issuerUrl)
  const form = await readForm(request)
  const person = await requirePerson(request, context)
  const id = parseForm(request.query).get('interaction')
  const page = devicePageFor(request, context)
  return id === undefined
    ? checkCode(form, page, person, context)
    : handleDeviceDecision(id, form, { page, person }, context)
}

function devicePageFor(request: HttpRequest, context: ServerContext): PageLanguage {
  return choosePageLanguage(request, parseForm(request.query).get('ui_locales'), context)
}

async function requirePerson(
  request: HttpRequest,
  context: ServerContext,
): Promise<SignedInPerson> {
  const person = await findSignedIn(context.options, request)
  if (person) return person
  throw new Unauthenticated('Unauthenticated.')
}

interface CodePageState {
  readonly typed: string
  readonly problem: string | null
  readonly status: number
}

function askForCode(
  { typed, problem, status }: CodePageState,
  { view, sent }: PageLanguage,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const userCode = parseUserCode(typed) ?? typed.slice(0, MAX_INPUT_LENGTH)
  const query = sent.size > 0 ? `?${new URLSearchParams([...sent])}` : ''
  const action = `${context.options.basePath}/device${query}`
  const [csrfToken = ''] = csrfTokens(person, context)
  return showDeviceView(
    { ...view, step: 'enter', userCode, problem, action, csrfToken },
    status,
    context,
  )
}

/**
 * Returns the valid CSRF tokens, the one for new pages first. The others are for pages shown before
 * the secret was replaced.
 */
function csrfTokens({ id, sessionId }: Person, { keyring }: ServerContext): string[] {
  const keys = keyring.macKeys('approval forms')
  return keys.map((key) => computeHmac(key, ['device', id, sessionId].join('\n')))
}

/**
 * Checks the entered code. If it is valid, shows the approval page, with an interaction as on the
 * approval screen.
 */
async function checkCode(
  form: Form,
  page: PageLanguage,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const csrfToken = form.get('csrf_token') ?? ''
  if (!csrfTokens(person, context).some((text) => areSecretsEqual(csrfToken, text))) {
    throw new CsrfMismatch('The CSRF token of the form is missing or wrong.')
  }
  const typed = requireParam(form, 'user_code')
  const userCode = parseUserCode(typed)
  try {
    // Limits attempts per person, across all their sessions (RFC 8628 §5.1).
    const limit = { ...userCodeGuesses, name: `user code:${sha256(person.id)}` }
    const found = await context.guessing.check(
      [limit],
      async () => userCode && (await openByUserCode(userCode, context)),
      (opened) => (opened ? 'right' : 'wrong'),
    )
    if (found && !clientServesUser(found.client, person.id, context.providers)) {
      const problem = page.t('device.enter.otherProvider')
      return askForCode({ typed, problem, status: 403 }, page, person, context)
    }
    if (found) return showDeviceApprovalPage(found, page, person, context)
  } catch (error) {
    if (!(error instanceof TooManyRequests)) throw error
    return showTooManyAttempts(error, page, person, context)
  }
  const problem = page.t('device.enter.unknown')
  return askForCode({ typed, problem, status: 400 }, page, person, context)
}

async function showTooManyAttempts(
  error: TooManyRequests,
  page: PageLanguage,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const minutes = Math.ceil(error.retryAfterSeconds / 60)
  const problem = page.t('device.enter.tooMany', { minutes })
  const response = await askForCode({ typed: '', problem, status: 429 }, page, person, context)
  return { ...response, headers: { ...response.headers, ...error.headers() } }
}

/**
 * Finds the request for a user code. Returns `null` without distinction if the code is unknown or
 * expired, if its request was already answered, or if its client was deleted.
 */
async function openByUserCode(
  userCode: string,
  context: ServerContext,
): Promise<DeviceRequestToApprove | null> {
  const found = await findDeviceRequestByUserCode(userCode, context)
  const request = found && (await openDeviceRequest(found.hash, context))
  const client = request && (await context.clients.find(request.clientId))
  return client && { hash: found.hash, userCode, client, request }
}
