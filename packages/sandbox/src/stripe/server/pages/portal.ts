import type { HttpResponse } from '../../../core/http.ts'
import type { PortalFlowRow } from '../../resources/billing-portal-flows.ts'
import type { PortalSessionRow } from '../../state/rows.ts'
import { runAtomically, UnitOfWork } from '../../state/unit-of-work.ts'
import { StripeFault } from '../../wire/errors.ts'
import { CHALLENGE_FAILED, isCardChallenged, renderChallengeForm } from './cards.ts'
import {
  createNoticeResponse,
  createPageResponse,
  type PageRequest,
  redirectResponse,
} from './page.ts'
import { PORTAL_ACTIONS, type PortalAction } from './portal-actions.ts'
import { renderPortalHome } from './portal-home.ts'
import type { PortalState } from './portal-state.ts'
import { PORTAL_VIEWS, renderPortalDone } from './portal-views.ts'

/**
 * Serves the customer portal: the customer's subscriptions, payment methods and invoices, or a
 * single flow.
 */
export function renderPortalPage(request: PageRequest): HttpResponse {
  const { context, id, form, posted } = request
  const session = new UnitOfWork(context).require('billing_portal.session', id)
  if (form.get('token') !== session.$.token) {
    return createNoticeResponse(403, 'Not allowed', 'The link is not complete.')
  }
  if (!posted) return draw(request, 200, null)
  try {
    return runAction(request, session)
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    return draw(request, error.status, error.message)
  }
}

function runAction(request: PageRequest, session: PortalSessionRow): HttpResponse {
  const { context, id, form } = request
  const flow = openFlow(session)
  const name = form.get('action') ?? ''
  const action = Object.hasOwn(PORTAL_ACTIONS, name) ? PORTAL_ACTIONS[name] : undefined
  if (!action || (flow && !action.flows.includes(flow.type))) {
    return createNoticeResponse(400, 'Not possible', 'The portal does not allow this here.')
  }
  if (form.get('challenge') === 'fail') return draw(request, 402, CHALLENGE_FAILED)
  if (form.get('challenge') === null && requiresChallenge(request, action)) {
    return createPageResponse(200, '3-D Secure', renderChallengeForm(Object.fromEntries(form)))
  }
  runAtomically(new UnitOfWork(context, { about: [id] }), (work) => {
    const own = work.require('billing_portal.session', id)
    action.run(openPortal(work, own), form)
    if (flow) work.edit('billing_portal.session', own).$.flowDone = true
  })
  return flow ? finish(session, flow) : redirectResponse(homeOf(session))
}

function requiresChallenge({ context, id, form }: PageRequest, action: PortalAction): boolean {
  const work = new UnitOfWork(context, { about: [id] })
  const portal = openPortal(work, work.require('billing_portal.session', id))
  const card = action.card?.(portal, form) ?? null
  return card !== null && isCardChallenged(work, card)
}

/** Redirects after a completed flow. */
function finish(session: PortalSessionRow, flow: PortalFlowRow): HttpResponse {
  const { type, redirect: target, hosted_confirmation: confirmation } = flow.after_completion
  if (type === 'redirect' && target) return redirectResponse(target.return_url)
  return redirectResponse(confirmation ? `${homeOf(session)}&done=1` : homeOf(session))
}

function draw({ context, id, form }: PageRequest, status: number, problem: string | null) {
  const work = new UnitOfWork(context, { about: [id] })
  const session = work.require('billing_portal.session', id)
  const flow = openFlow(session)
  if (session.$.flowDone && form.get('done') !== null) return confirm(session)
  const name = flow?.type ?? form.get('view') ?? ''
  const view = Object.hasOwn(PORTAL_VIEWS, name) ? PORTAL_VIEWS[name] : undefined
  return createPageResponse(
    status,
    'Billing',
    (view ?? renderPortalHome)({ ...openPortal(work, session), form, problem }),
  )
}

function confirm(session: PortalSessionRow): HttpResponse {
  const message = session.flow?.after_completion.hosted_confirmation?.custom_message
  return createPageResponse(
    200,
    'Billing',
    renderPortalDone(message ?? 'All done.', session.return_url),
  )
}

/** Returns the session's flow, unless it has been completed. */
function openFlow(session: PortalSessionRow): PortalFlowRow | null {
  return session.$.flowDone ? null : session.flow
}

function homeOf(session: PortalSessionRow): string {
  return `/pages/portal/${session.id}?token=${session.$.token}`
}

function openPortal(work: UnitOfWork, session: PortalSessionRow): PortalState {
  const customer = work.require('customer', session.customer)
  const configuration = work.require('billing_portal.configuration', session.configuration)
  const flow = openFlow(session)
  return { work, session, customer, configuration, flow, home: homeOf(session) }
}
