import type { Context, Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { requireUser } from '../../parts/page-context.ts'
import { renderPage } from '../../parts/render.tsx'
import { askProvider, mayChooseProvider, readAccount } from '../model/account.ts'
import { cardEntryOf } from '../model/card-entry.ts'
import { hasHostedPages, hostedPagesOf } from '../model/hosted-pages.ts'
import { noticeOf } from '../model/notices.ts'
import type { Problem } from '../model/problems.ts'
import { availableProviders, parseProvider } from '../model/providers.ts'
import { ProviderScripts } from '../sections/card-entry.tsx'
import { CurrentSubscription } from '../sections/current-subscription.tsx'
import { BillingFrame } from '../sections/frame.tsx'
import { Invoices } from '../sections/invoices.tsx'
import { OtherPlans } from '../sections/other-plans.tsx'
import { PaymentMethods } from '../sections/payment-methods.tsx'
import { Portal } from '../sections/portal.tsx'
import { SandboxStrip } from '../sections/sandbox-strip.tsx'
import { Subscribe } from '../sections/subscribe.tsx'

/** What the signed-in person pays for. */
export function addBillingPage(app: Hono<AppEnv>): void {
  app.get('/billing', requireUser(), (c) => renderBilling(c))
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
  const hasPortal = isCustomer && hasHostedPages(account.provider)
  const leadsAway = hasPortal || hasHostedPages(provider)
  const notice = view.problem ? null : noticeOf(c.req.query('done'))
  return renderPage(
    c,
    {
      title: 'Billing',
      status: view.problem?.status ?? 200,
      policy: entry.policy,
      opensWindows: entry.opensWindows,
      formTargets: leadsAway ? hostedPagesOf(service) : [],
    },
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
          <p class={`note ${notice.tone}`} role="status">
            {notice.text}
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
        {isCustomer && !isUnpaid && <PaymentMethods {...{ page, account, told, entry }} />}
        {hasPortal && <Portal page={page} provider={account.provider} />}
        <Invoices {...told} isCustomer={isCustomer} />
        <ProviderScripts entry={entry} />
      </div>
    </BillingFrame>,
  )
}
