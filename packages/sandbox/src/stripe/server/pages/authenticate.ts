import { html } from '@tollgate/http'
import type { HttpResponse } from '../../../core/http.ts'
import { finishAuthentication } from '../../resources/payment-confirmation.ts'
import { finishSetupAuthentication } from '../../resources/setup-intents.ts'
import { runAtomically, UnitOfWork } from '../../state/unit-of-work.ts'
import {
  createNoticeResponse,
  createPageResponse,
  type PageRequest,
  redirectResponse,
} from './page.ts'

/**
 * Serves the bank's 3-D Secure page. Stripe.js shows the page in a frame, or the application
 * redirects to it.
 */
export function renderAuthenticationPage({ context, id, form, posted }: PageRequest): HttpResponse {
  return runAtomically(new UnitOfWork(context, { about: [id] }), (work) => {
    const setup = id.startsWith('seti_')
    const intent = setup ? work.require('setup_intent', id) : work.require('payment_intent', id)
    if (form.get('client_secret') !== intent.client_secret) {
      return createNoticeResponse(403, 'Not allowed', 'The link is not complete.')
    }
    if (!posted) {
      return createPageResponse(
        200,
        '3-D Secure',
        html`<section><h1>3-D Secure</h1><p>Your bank asks you to approve this ${setup ? 'card' : 'payment'}.</p>
        <form method="post" class="row"><input type="hidden" name="client_secret" value="${intent.client_secret}">
        <button name="answer" value="complete">Complete</button><button class="quiet" name="answer" value="fail">Fail</button></form></section>`,
        '*',
      )
    }
    const passed = form.get('answer') === 'complete'
    const { returnUrl } = intent.$
    if (setup) finishSetupAuthentication(work, id, passed)
    else finishAuthentication(work, id, passed)
    if (returnUrl === null || intent.$.inPage) {
      const title = passed ? 'Approved' : 'Refused'
      const text = html`<section><h1>${title}</h1><p>You can close this page.</p></section>`
      return createPageResponse(200, title, text, '*')
    }
    const url = new URL(returnUrl)
    url.searchParams.set(setup ? 'setup_intent' : 'payment_intent', id)
    url.searchParams.set(
      setup ? 'setup_intent_client_secret' : 'payment_intent_client_secret',
      intent.client_secret ?? '',
    )
    url.searchParams.set('redirect_status', passed ? 'succeeded' : 'failed')
    return redirectResponse(url.href)
  })
}
