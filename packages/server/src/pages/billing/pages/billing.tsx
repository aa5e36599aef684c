import { PaymentActionRequired } from '@tollgate/billing'
import type { Context, Hono } from 'hono'
import type { ServiceContext } from '../../../context.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { readOwnForm } from '../../parts/forms.ts'
import { requireUser, userOf } from '../../parts/page-context.ts'
import { renderPage } from '../../parts/render.tsx'
import { askProvider, mayChooseProvider, readAccount } from '../model/account.ts'
import { noticeOf } from '../model/notices.ts'
import { describeProblem, isDeclined, type Problem } from '../model/problems.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { cardEntryOf, ProviderScript, policyFor } from '../sections/card-entry.tsx'
import { ChangeCard } from '../sections/change-card.tsx'
import { CurrentSubscription } from '../sections/current-subscription.tsx'
import { BillingFrame } from '../sections/frame.tsx'
import { Invoices } from '../sections/invoices.tsx'
import { OtherPlans } from '../sections/other-plans.tsx'
import { addSandboxControls, SandboxStrip } from '../sections/sandbox-strip.tsx'
import { Subscribe } from '../sections/subscribe.tsx'
import { ACTIONS } from './actions.ts'
import { addCancelPage } from './cancel.tsx'
import { addConfirmation } from './confirm.tsx'
import { addSwapPreview } from './swap.tsx'

/** What the signed-in person pays for. Every form works without script. */
export function addBilling(app: Hono<AppEnv>, service: ServiceContext): void {
  app.get('/billing', requireUser(), (c) => renderBilling(c))
  for (const [path, action] of Object.entries(ACTIONS)) {
    app.post(path, requireUser(), async (c) => {
      const form = await readOwnForm(c)
      const card = form.has('token')
        ? await service.limits.attemptCard(userOf(c).id, c.get('network'))
        : null
      try {
        const account = await readAccount(c)
        const done = await action({ service, account, form })
        await card?.accepted()
        return c.redirect(typeof done === 'string' ? `/billing?done=${done}` : done.goTo, 303)
      } catch (error) {
        if (!isDeclined(error)) await card?.withdrawn()
        if (error instanceof PaymentActionRequired) return c.redirect('/billing/confirm', 303)
        const problem = describeProblem(error)
        if (!problem) throw error
        return renderBilling(c, { problem, form })
      }
    })
  }
  addSwapPreview(app)
  addCancelPage(app)
  addConfirmation(app)
  addSandboxControls(app, service)
}

/** The page, after a form that could not be done also with what was filled in. */
export async function renderBilling(
  c: Context<AppEnv>,
  view: { readonly problem?: Problem; readonly form?: URLSearchParams } = {},
): Promise<Response> {
  const page = c.get('page')
  const { service } = page
  const account = await readAccount(c)
  const { running, isCustomer } = account
  const told = await askProvider(account)
  const chosen = view.form?.get('provider') ?? c.req.query('provider')
  const available = availableProviders(service)
  const mayChoose = mayChooseProvider(account, told)
  const provider = mayChoose
    ? (parseProvider(chosen, available) ?? account.provider)
    : account.provider
  const isUnpaid = running?.awaitsFirstPayment() ?? false
  const entry = cardEntryOf(service, provider)
  const notice = view.problem ? null : noticeOf(c.req.query('done'))
  return renderPage(
    c,
    { title: 'Billing', status: view.problem?.status ?? 200, policy: policyFor(entry) },
    <BillingFrame>
      <div class="stack">
        <h1>Billing</h1>
        <SandboxStrip page={page} canDecline={isCustomer} />
        {view.problem && (
          <p class="note bad" role="alert">
            {view.problem.message}
          </p>
        )}
        {notice && (
          <p class="note good" role="status">
            {notice}
          </p>
        )}
        {running && (
          <>
            <CurrentSubscription {...{ page, account, told }} subscription={running} />
            <OtherPlans {...{ page, account }} subscription={running} />
          </>
        )}
        {(!running || isUnpaid) && (
          <Subscribe
            {...{ page, account, provider, entry, told }}
            available={mayChoose ? available : []}
            asksForCard={isUnpaid || c.req.query('card') === 'new' || view.form?.has('token')}
            form={view.form ?? null}
          />
        )}
        {isCustomer && !isUnpaid && <ChangeCard {...{ page, account, entry }} />}
        <Invoices invoices={told.invoices} isCustomer={isCustomer} />
        <ProviderScript entry={entry} />
      </div>
    </BillingFrame>,
  )
}
