import type { Context } from 'hono'
import { findPlanOfSubscription } from '../../../config/plan-capabilities.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { BillingForm, BillingFrame } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import { readAccount, readUnpaidReason } from '../model/account.ts'
import { createCardEntry } from '../model/card-entry.ts'
import { PROVIDER_NAMES } from '../model/providers.ts'
import { answerBank } from '../model/test-cards.ts'
import { AskBank, ProviderScripts } from '../sections/card-entry.tsx'
import { processPendingWork } from '../sections/sandbox-controls.tsx'
import type { FormRequest } from './add-form.ts'

/** Shows the page for 3-D Secure, where the customer confirms a payment at the bank. */
export async function showConfirm(c: Context<AppEnv>): Promise<Response> {
  const { service, t } = c.get('page')
  const { running, billable, path } = await readAccount(c)
  const reason = running && (await readUnpaidReason(running))
  if (!running || reason?.code !== 'payment_action_required') {
    // Just confirmed: the provider knows before its webhook arrives.
    if (running && !reason) await billable.sync()
    return c.redirect(path, 303)
  }
  const entry = createCardEntry(service, running.provider)
  const plan = findPlanOfSubscription(service.config.settings.plans, running)
  return renderPage(
    c,
    { title: t('confirm.title'), policy: entry.policy },
    <BillingFrame>
      <section class="card narrow stack">
        <h1>{t('confirm.title')}</h1>
        <p>
          {t.parts(running.incomplete() || running.pastDue() ? 'confirm.pays' : 'confirm.changes', {
            plan: (
              <strong>
                <bdi>{plan?.name ?? running.providerPlan}</bdi>
              </strong>
            ),
          })}
        </p>
        {entry.kind === 'test' ? (
          <BillingForm action="/confirm" class="stack" data-once>
            <p>{t('confirm.sandbox')}</p>
            <div class="row">
              <button class="primary" type="submit" name="answer" value="approve">
                {t('confirm.confirm')}
              </button>
              <button type="submit" name="answer" value="refuse">
                {t('confirm.refuse')}
              </button>
            </div>
          </BillingForm>
        ) : (
          <noscript>
            <p class="problem">
              {t('confirm.script', { provider: PROVIDER_NAMES[running.provider] })}
            </p>
          </noscript>
        )}
        <AskBank entry={entry} clientSecret={reason.payment.clientSecret} />
        <p>
          <a href={path}>{t('confirm.back')}</a>
        </p>
        <ProviderScripts entry={entry} />
      </section>
    </BillingFrame>,
  )
}

/** Handles the form that approves or rejects a payment at the simulated bank of the sandbox. */
export async function confirm({ service, account: { running, path }, form }: FormRequest) {
  const reason = running && (await readUnpaidReason(running))
  const { sandbox } = service
  if (!sandbox || reason?.code !== 'payment_action_required') return { goTo: path }
  const approved = form.get('answer') === 'approve'
  answerBank(sandbox, reason.payment, approved)
  await processPendingWork(service, sandbox)
  return approved ? ('confirmed' as const) : ('refused' as const)
}
