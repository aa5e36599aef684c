import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { readOwnForm } from '../../parts/forms.ts'
import { CsrfField } from '../../parts/layout.tsx'
import { requireUser } from '../../parts/page-context.ts'
import { renderPage } from '../../parts/render.tsx'
import { readAccount, unpaidReason } from '../model/account.ts'
import { cardEntryOf } from '../model/card-entry.ts'
import { planOf } from '../model/plans.ts'
import { PROVIDER_NAMES } from '../model/providers.ts'
import { answerBank } from '../model/test-cards.ts'
import { AskBank } from '../sections/ask-bank.tsx'
import { ProviderScripts } from '../sections/card-entry.tsx'
import { BillingFrame } from '../sections/frame.tsx'
import { settle } from '../sections/sandbox-strip.tsx'
import { addPage, orProblem } from './add-page.ts'

/** 3-D Secure: the customer's bank asks before the payment goes through. */
export function addConfirmPage(app: Hono<AppEnv>): void {
  addPage(app, '/billing/confirm', async (c) => {
    const page = c.get('page')
    const { service } = page
    const { running, billable } = await readAccount(c)
    const reason = running && (await unpaidReason(running))
    if (!running || reason?.code !== 'payment_action_required') {
      // Confirmed a moment ago: the provider's word is here before its webhook.
      if (running && !reason) await billable.sync()
      return c.redirect('/billing', 303)
    }
    const entry = cardEntryOf(service, running.provider)
    const plan = planOf(service.config.settings.plans, running)
    return renderPage(
      c,
      { title: 'Confirm the payment', policy: entry.policy },
      <BillingFrame>
        <section class="card narrow stack">
          <h1>Confirm the payment</h1>
          <p>
            Your bank wants to know that it is you who{' '}
            {running.incomplete() || running.pastDue() ? 'pays for' : 'changes'}{' '}
            <strong>
              <bdi>{plan?.name ?? running.providerPlan}</bdi>
            </strong>
            .
          </p>
          {entry.kind === 'test' ? (
            <form method="post" action="/billing/confirm" class="stack" data-once>
              <CsrfField page={page} />
              <p>This is the sandbox’s bank: it takes your word for it.</p>
              <div class="row">
                <button class="primary" type="submit" name="answer" value="approve">
                  Confirm
                </button>
                <button type="submit" name="answer" value="refuse">
                  Refuse
                </button>
              </div>
            </form>
          ) : (
            <noscript>
              <p class="problem">
                Your bank is asked by {PROVIDER_NAMES[running.provider]}’s script. Please switch
                scripts on.
              </p>
            </noscript>
          )}
          <AskBank entry={entry} clientSecret={reason.payment.clientSecret} />
          <p>
            <a href="/billing">Back to billing</a>
          </p>
          <ProviderScripts entry={entry} />
        </section>
      </BillingFrame>,
    )
  })

  app.post('/billing/confirm', requireUser(), async (c) => {
    const form = await readOwnForm(c)
    return orProblem(c, async () => {
      const { service } = c.get('page')
      const { running } = await readAccount(c)
      const reason = running && (await unpaidReason(running))
      const { sandbox } = service
      if (!sandbox || reason?.code !== 'payment_action_required') return c.redirect('/billing', 303)
      const approved = form.get('answer') === 'approve'
      answerBank(sandbox, reason.payment, approved)
      await settle(service, sandbox)
      return c.redirect(`/billing?done=${approved ? 'confirmed' : 'refused'}`, 303)
    })
  })
}
