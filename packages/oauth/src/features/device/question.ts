import type { HttpResponse } from '@tollgate/http'
import {
  buildDecisionFormUrl,
  createAlreadyDecidedError,
  openInteraction,
  requireInteraction,
} from '../../authorization/decision.ts'
import {
  buildConsent,
  describeScopes,
  findEarlierConsent,
  readDeclinedScopes,
  removeDeclinedScopes,
} from '../../authorization/optional-scopes.ts'
import type { PageLanguage } from '../../authorization/page-language.ts'
import { splitTicketFromDetails } from '../../authorization/request-ticket.ts'
import {
  describeApplication,
  describeResources,
} from '../../authorization/requesting-application.ts'
import { addSignInDetails } from '../../authorization/sign-in-details.ts'
import { buildOtherAccountUrl } from '../../authorization/sign-in-page.ts'
import { isUnusedClient, markClientUsed } from '../../clients/self-registered.ts'
import type { ServerContext } from '../../context.ts'
import { createRandomSecret, createTimeOrderedId, sha256 } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import { type Form, requireParam } from '../../http/form.ts'
import { createHtmlPage } from '../../http/html.ts'
import type { DeviceView } from '../../pages/pages.ts'
import type { AuthorizationCode, Client, Interaction } from '../../storage/records.ts'
import type { Person, SignedInPerson } from '../../users/signed-in.ts'
import {
  type DeviceRequest,
  findDeviceRequest,
  isDeviceRequestOpen,
  type StoredDeviceRequest,
  storeDeviceDecision,
} from './device-request.ts'
import { DEVICE_CODE_GRANT_TYPE } from './poll.ts'

export async function showDeviceView(
  view: DeviceView,
  status: number,
  { options }: ServerContext,
): Promise<HttpResponse> {
  return createHtmlPage(await options.pages.device(view), status)
}

/**
 * A device request that is neither decided nor expired, and whose user code the person has entered.
 */
export interface DeviceRequestToApprove {
  readonly hash: string
  readonly userCode: string
  readonly client: Client
  readonly request: DeviceRequest
}

/**
 * Shows the page on which a person approves or denies the request of a device. Stores an
 * interaction that the decision refers to.
 */
export async function showDeviceApprovalPage(
  { hash, userCode, client, request: { scopes, details } }: DeviceRequestToApprove,
  { view: page, sent }: PageLanguage,
  person: Person,
  context: ServerContext,
): Promise<HttpResponse> {
  const pendingRequest = {
    client,
    scopes,
    details,
    response: { type: DEVICE_CODE_GRANT_TYPE },
    received: { ticket: hash },
    // Without a redirect URI, the approval screen's own URL cannot be used to decide this
    // interaction.
    ...{ redirectTo: '', redirectUri: null, state: null, codeChallenge: null },
  }
  const pending = await openInteraction(pendingRequest, person, context)
  const { basePath } = context.options
  const shown = [...scopes, ...(details?.alsoShown ?? [])]
  const before = await findEarlierConsent(
    { userId: person.id, clientId: client.id, shown },
    context,
  )
  const again = new Map([['user_code', userCode], ...sent])
  const view: DeviceView = {
    ...page,
    step: 'confirm',
    ...describeApplication(client, context),
    userId: person.id,
    otherAccount: buildOtherAccountUrl(
      context,
      `${basePath}/device?${new URLSearchParams([...again])}`,
    ),
    scopes: describeScopes(shown, before, page.language, context),
    resources: describeResources(details, context),
    userCode,
    action: buildDecisionFormUrl(`${basePath}/device`, pending, again),
    csrfToken: pending.csrfToken,
  }
  return showDeviceView(view, 200, context)
}

interface Pending {
  readonly interaction: Interaction
  readonly device: StoredDeviceRequest
  readonly client: Client
  readonly person: SignedInPerson
  readonly form: Form
}

/**
 * Handles a person's decision to approve or deny the request of a device. Only the person for whom
 * the page was opened, in the same session, may decide, and only from a page of this server.
 */
export async function handleDeviceDecision(
  id: string,
  form: Form,
  { page, person }: { readonly page: PageLanguage; readonly person: SignedInPerson },
  context: ServerContext,
): Promise<HttpResponse> {
  const decisions: Readonly<Record<string, typeof approve>> = { approve, deny }
  const decision = requireParam(form, 'decision')
  const carryOut = Object.hasOwn(decisions, decision) ? decisions[decision] : undefined
  if (!carryOut) throw new InvalidRequest('decision must be approve or deny')
  const interaction = await requireInteraction(id, form.get('csrf_token') ?? null, person, context)
  const hash = splitTicketFromDetails(interaction.details).ticket
  if (interaction.responseType !== DEVICE_CODE_GRANT_TYPE || hash === null)
    throw createAlreadyDecidedError()
  // The request may have been answered in another tab, or the client deleted, while the page was
  // open.
  const device = await findDeviceRequest(hash, context)
  const client = await context.clients.find(interaction.clientId)
  if (!client || !device || !isDeviceRequestOpen(device, context)) throw createAlreadyDecidedError()
  const approved = await carryOut({ interaction, device, client, person, form }, context)
  return showDeviceView({ ...page.view, step: 'done', approved, client }, 200, context)
}

/**
 * Stores the approval as an authorization code, as the approval screen does. Until the device
 * fetches its token, everything that revokes codes and consents revokes the approval too. The
 * decision becomes visible to the device only after the code is stored.
 */
async function approve(pending: Pending, context: ServerContext): Promise<boolean> {
  const { interaction, device, client, person, form } = pending
  const { clientId, userId } = interaction
  const { details } = device.request
  const shown = [...interaction.scopes, ...(details?.alsoShown ?? [])]
  const declined = readDeclinedScopes(form, shown, context)
  const share = removeDeclinedScopes({ scopes: interaction.scopes, details }, declined)
  // Unused clients may be evicted. Mark the client before approving, because nothing that was
  // approved is ever evicted.
  if (isUnusedClient(client) && !(await markClientUsed(client, context)))
    throw createAlreadyDecidedError()
  const at = context.clock.now()
  const code: AuthorizationCode = {
    // Hash of a discarded random text: the token endpoint finds the code only through the device
    // code.
    hash: sha256(createRandomSecret()),
    tokenId: createTimeOrderedId(at),
    clientId,
    userId,
    redirectUri: null,
    scopes: share.scopes,
    codeChallenge: null,
    expiresAt: device.expiresAt,
    usedAt: null,
    details: addSignInDetails(share.details, person, client),
  }
  const consent = buildConsent(interaction, share, declined, at)
  if (!(await context.storage.interactions.approve(interaction.hash, { at, consent, code }))) {
    throw createAlreadyDecidedError()
  }
  const decision = { approved: true, codeHash: code.hash } as const
  if (!(await storeDeviceDecision(device.hash, decision, context)))
    throw createAlreadyDecidedError()
  return true
}

async function deny({ interaction, device }: Pending, context: ServerContext): Promise<boolean> {
  if (!(await context.storage.interactions.deny(interaction.hash, context.clock.now()))) {
    throw createAlreadyDecidedError()
  }
  if (!(await storeDeviceDecision(device.hash, { approved: false }, context)))
    throw createAlreadyDecidedError()
  return false
}
