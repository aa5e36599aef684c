import type { HttpResponse } from '../../../core/http.ts'
import {
  applyCheckoutCode,
  removeCheckoutCode,
  setAddress,
  setQuantity,
} from '../../resources/checkout-changes.ts'
import { type CheckoutForm, completeCheckout } from '../../resources/checkout-completion.ts'
import { needsCard, quoteSession } from '../../resources/checkout-order.ts'
import type { CheckoutAnswers } from '../../resources/checkout-questions.ts'
import type { CheckoutSessionRow } from '../../state/rows.ts'
import { dryRun, runAtomically, UnitOfWork } from '../../state/unit-of-work.ts'
import { StripeFault } from '../../wire/errors.ts'
import { CHALLENGE_FAILED, isCardChallenged, renderChallengeForm } from './cards.ts'
import { renderCheckout } from './checkout-view.ts'
import {
  createNoticeResponse,
  createPageResponse,
  type PageRequest,
  redirectResponse,
} from './page.ts'

type Action = (work: UnitOfWork, session: CheckoutSessionRow, form: URLSearchParams) => void

/** Actions of the small forms beside the payment form. */
const CHANGES: Readonly<Record<string, Action>> = {
  'apply-code': (work, session, form) => applyCheckoutCode(work, session, form.get('code') ?? ''),
  'remove-code': (work, session) => removeCheckoutCode(work, session),
  address: (work, session, form) => {
    const typed = (name: string) => form.get(name) ?? ''
    const address = { country: typed('country'), postal_code: typed('postal_code') }
    setAddress(work, session, { ...address, state: typed('state') })
  },
  quantity: (work, session, form) =>
    setQuantity(work, session, Number(form.get('item')), Number(form.get('quantity'))),
}

const ADDRESS = ['line1', 'city', 'state', 'postal_code', 'country'] as const

/** Serves the page of a checkout session, and handles its forms. */
export function renderCheckoutPage(request: PageRequest): HttpResponse {
  const { context, id, form, posted } = request
  const session = new UnitOfWork(context).require('checkout.session', id)
  if (session.status === 'complete')
    return createNoticeResponse(410, 'Checkout', 'This session is complete.')
  if (session.status !== 'open') {
    return createNoticeResponse(410, 'Checkout', 'This session is expired. Please start over.')
  }
  if (!posted) return draw(request, 200, null)
  try {
    const action = form.get('action') ?? ''
    const change = Object.hasOwn(CHANGES, action) ? CHANGES[action] : undefined
    if (!change) return pay(request, session)
    runAtomically(new UnitOfWork(context, { about: [id] }), (work) =>
      change(work, work.require('checkout.session', id), form),
    )
    return redirectResponse(`/pages/checkout/${id}`)
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error
    return draw(request, error.status, error.message)
  }
}

function draw(
  { context, id, form }: PageRequest,
  status: number,
  problem: string | null,
): HttpResponse {
  // Rolled back after rendering, because viewing the page must not change the session.
  return dryRun(context, { about: [id] }, (work) => {
    const session = work.edit('checkout.session', work.require('checkout.session', id))
    const quote = quoteSession(work, session)
    return createPageResponse(
      status,
      'Checkout',
      renderCheckout(work, session, quote, form, problem),
    )
  })
}

function pay(request: PageRequest, session: CheckoutSessionRow): HttpResponse {
  const { context, id, form } = request
  const card = form.get('card') ?? 'pm_card_visa'
  if (form.get('challenge') === 'fail') return draw(request, 402, CHALLENGE_FAILED)
  if (form.get('challenge') === null && requiresChallenge(request, card)) {
    return createPageResponse(200, '3-D Secure', renderChallengeForm(Object.fromEntries(form)))
  }
  runAtomically(new UnitOfWork(context, { about: [id] }), (work) =>
    completeCheckout(work, id, readForm(form, card)),
  )
  const url = session.success_url ?? '/'
  return redirectResponse(url.replaceAll('{CHECKOUT_SESSION_ID}', id))
}

function requiresChallenge({ context, id }: PageRequest, card: string): boolean {
  return dryRun(context, { about: [id] }, (work) => {
    const session = work.edit('checkout.session', work.require('checkout.session', id))
    return isCardChallenged(work, card) && needsCard(session, quoteSession(work, session))
  })
}

/** Reads the customer's answers. Browsers do not send unchecked boxes. */
function readAnswers(form: URLSearchParams): CheckoutAnswers {
  const [type, value] = [form.get('tax_id_type'), form.get('tax_id')?.trim()]
  const fields = [...form].flatMap(([name, text]) =>
    name.startsWith('field-') ? [[name.slice('field-'.length), text] as const] : [],
  )
  return {
    fields: Object.fromEntries(fields),
    acceptsTerms: form.get('terms') !== null,
    ...(type && value ? { taxId: { type, value } } : {}),
  }
}

function readForm(form: URLSearchParams, card: string): CheckoutForm {
  const typed = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => [name, form.get(name)?.trim()]).filter(([, value]) => value),
    )
  const address = typed(ADDRESS)
  return {
    paymentMethod: card,
    ...typed(['email', 'name', 'phone']),
    ...readAnswers(form),
    ...(Object.keys(address).length > 0 ? { address } : {}),
  }
}
