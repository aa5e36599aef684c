import type { HttpResponse } from '@tollgate/http'
import { describeApplication, describeResources } from '../../authorization/asking-application.ts'
import {
  answered,
  openInteraction,
  requireInteraction,
  screenAddress,
} from '../../authorization/decision.ts'
import {
  consentTo,
  describeScopes,
  findChoice,
  readDeclined,
  withoutDeclined,
} from '../../authorization/optional-scopes.ts'
import { withSignIn } from '../../authorization/sign-in-details.ts'
import { otherAccountLocation } from '../../authorization/sign-in-page.ts'
import { splitTicket } from '../../authorization/single-answer.ts'
import { isUnused, markUsed } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { randomSecret, sha256, timeOrderedId } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import { type Form, requireParam } from '../../http/form.ts'
import { htmlPage } from '../../http/html.ts'
import type { DeviceView } from '../../pages/pages.ts'
import type { AuthorizationCode, Client, Interaction } from '../../storage/records.ts'
import type { Person, SignedInPerson } from '../../users/users.ts'
import {
  answerDeviceRequest,
  type DeviceRequest,
  type FoundRequest,
  findDeviceRequest,
  isOpen,
} from './device-request.ts'
import { DEVICE_CODE } from './poll.ts'

export async function showDeviceView(
  view: DeviceView,
  status: number,
  { options }: ServerContext,
): Promise<HttpResponse> {
  return htmlPage(await options.pages.device(view), status)
}

/** Somebody has typed the code of it. */
export interface OpenRequest {
  readonly hash: string
  readonly userCode: string
  readonly client: Client
  readonly request: DeviceRequest
}

/** Asks in a record of its own, as on the approval screen. */
export async function askToApprove(
  { hash, userCode, client, request: { scopes, details } }: OpenRequest,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const asked = {
    client,
    scopes,
    details,
    response: { type: DEVICE_CODE },
    received: { ticket: hash },
    // There is nowhere to go back to, so the approval screen's own address cannot decide it.
    ...{ redirectTo: '', redirectUri: null, state: null, codeChallenge: null },
  }
  const pending = await openInteraction(asked, person, context)
  const { basePath } = context.options
  const shown = [...scopes, ...(details?.alsoShown ?? [])]
  const before = await findChoice({ userId: person.id, clientId: client.id, shown }, context)
  const again = new Map([['user_code', userCode]])
  const view: DeviceView = {
    step: 'confirm',
    ...describeApplication(client, context),
    userId: person.id,
    otherAccount: otherAccountLocation(
      context,
      `${basePath}/device?${new URLSearchParams([...again])}`,
    ),
    scopes: describeScopes(shown, before, context),
    resources: describeResources(details, context),
    userCode,
    action: screenAddress(`${basePath}/device`, pending, again),
    csrfToken: pending.csrfToken,
  }
  return showDeviceView(view, 200, context)
}

interface Pending {
  readonly interaction: Interaction
  readonly device: FoundRequest
  readonly client: Client
  readonly person: SignedInPerson
  readonly form: Form
}

/** One of the two buttons: only the person and session it was shown to, and only from our own page. */
export async function decide(
  id: string,
  form: Form,
  person: SignedInPerson,
  context: ServerContext,
): Promise<HttpResponse> {
  const decisions: Readonly<Record<string, typeof approve>> = { approve, deny }
  const decision = requireParam(form, 'decision')
  const carryOut = Object.hasOwn(decisions, decision) ? decisions[decision] : undefined
  if (!carryOut) throw new InvalidRequest('decision must be approve or deny')
  const interaction = await requireInteraction(id, form.get('csrf_token') ?? null, person, context)
  const hash = splitTicket(interaction.details).ticket
  if (interaction.responseType !== DEVICE_CODE || hash === null) throw answered()
  // It may have been answered in another tab, or the client deleted, while the page was open.
  const device = await findDeviceRequest(hash, context)
  const client = await context.clients.find(interaction.clientId)
  if (!client || !device || !isOpen(device, context)) throw answered()
  const approved = await carryOut({ interaction, device, client, person, form }, context)
  return showDeviceView({ step: 'done', approved, client }, 200, context)
}

/**
 * The approval is stored as on the approval screen, as a code: so it ends with all that ends those, until the
 * device fetches its token. Only then the device is told.
 */
async function approve(pending: Pending, context: ServerContext): Promise<boolean> {
  const { interaction, device, client, person, form } = pending
  const { clientId, userId } = interaction
  const { details } = device.request
  const shown = [...interaction.scopes, ...(details?.alsoShown ?? [])]
  const declined = readDeclined(form, shown, context)
  const share = withoutDeclined({ scopes: interaction.scopes, details }, declined)
  // Before anything is approved: what was is never evicted.
  if (isUnused(client) && !(await markUsed(client, context))) throw answered()
  const at = context.clock.now()
  const code: AuthorizationCode = {
    // Of a text that nobody gets: the token endpoint finds it by the device code alone.
    hash: sha256(randomSecret()),
    tokenId: timeOrderedId(at),
    clientId,
    userId,
    redirectUri: null,
    scopes: share.scopes,
    codeChallenge: null,
    expiresAt: device.expiresAt,
    usedAt: null,
    details: withSignIn(share.details, person, client),
  }
  const consent = consentTo(interaction, share, declined, at)
  if (!(await context.storage.interactions.approve(interaction.hash, { at, consent, code }))) {
    throw answered()
  }
  const decision = { approved: true, codeHash: code.hash } as const
  if (!(await answerDeviceRequest(device.hash, decision, context))) throw answered()
  return true
}

async function deny({ interaction, device }: Pending, context: ServerContext): Promise<boolean> {
  if (!(await context.storage.interactions.deny(interaction.hash, context.clock.now()))) {
    throw answered()
  }
  if (!(await answerDeviceRequest(device.hash, { approved: false }, context))) throw answered()
  return false
}
