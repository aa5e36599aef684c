import { html } from '../../../core/html.ts'
import type { HttpResponse } from '../../../core/http.ts'
import { finishAuthentication } from '../../resources/payment-confirmation.ts'
import { finishSetupAuthentication } from '../../resources/setup-intents.ts'
import { inOneStep, UnitOfWork } from '../../state/unit-of-work.ts'
import { notice, type PageRequest, redirect, show } from './page.ts'

/** The bank's own page, which a payment of the application's sends its customer to. */
export function authenticatePage({ context, id, form, posted }: PageRequest): HttpResponse {
  return inOneStep(new UnitOfWork(context), (work) => {
    const setup = id.startsWith('seti_')
    const intent = setup ? work.require('setup_intent', id) : work.require('payment_intent', id)
    if (form.get('client_secret') !== intent.client_secret) {
      return notice(403, 'Not allowed', 'The link is not complete.')
    }
    if (!posted) {
      return show(
        200,
        '3-D Secure',
        html`<section><h1>3-D Secure</h1><p>Your bank asks you to approve this ${setup ? 'card' : 'payment'}.</p>
        <form method="post" class="row"><input type="hidden" name="client_secret" value="${intent.client_secret}">
        <button name="answer" value="complete">Complete</button><button class="quiet" name="answer" value="fail">Fail</button></form></section>`,
      )
    }
    const passed = form.get('answer') === 'complete'
    const { returnUrl } = intent.$
    if (setup) finishSetupAuthentication(work, id, passed)
    else finishAuthentication(work, id, passed)
    if (returnUrl === null) {
      return notice(200, passed ? 'Approved' : 'Refused', 'You can close this page.')
    }
    const url = new URL(returnUrl)
    url.searchParams.set(setup ? 'setup_intent' : 'payment_intent', id)
    url.searchParams.set('redirect_status', passed ? 'succeeded' : 'failed')
    return redirect(url.href)
  })
}
