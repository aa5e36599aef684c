import type { ProviderName } from '@tollgate/billing'
import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import { getSeller } from '../../../config/seller.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { BillingFrame, Note, OwnForm, usePage } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import { mayChooseProvider, readAccount, readProviderView } from '../model/account.ts'
import { createCardEntry } from '../model/card-entry.ts'
import { readOffer, withoutCode } from '../model/new-subscription.ts'
import { findFormNotice } from '../model/notices.ts'
import type { BillingProblem } from '../model/problems.ts'
import {
  availableProviders,
  hasCreditNotes,
  hasHostedPages,
  listHostedPageOrigins,
  PROVIDER_NAMES,
  parseProvider,
} from '../model/providers.ts'
import { ProviderScripts } from '../sections/card-entry.tsx'
import { CurrentSubscription, OtherPlans } from '../sections/current-subscription.tsx'
import { InvoiceDetails } from '../sections/invoice-details.tsx'
import { Invoices } from '../sections/invoices.tsx'
import { PaymentMethods } from '../sections/payment-methods.tsx'
import { SandboxControls } from '../sections/sandbox-controls.tsx'
import { Subscribe } from '../sections/subscribe.tsx'

/**
 * Renders the billing page. After a form that failed, shows the problem and the values that were
 * filled in.
 */
export async function renderBilling(
  c: Context<AppEnv>,
  view: { readonly problem?: BillingProblem; readonly form?: URLSearchParams } = {},
): Promise<Response> {
  const { service, t } = c.get('page')
  const account = await readAccount(c)
  const { running, isCustomer } = account
  const { plans } = service.config.settings
  const told = await readProviderView(account, plans)
  const chosen = view.form?.get('provider') ?? c.req.query('provider')
  const available = availableProviders(service)
  const mayChoose = mayChooseProvider(account, told)
  const provider = mayChoose
    ? (parseProvider(chosen, available) ?? account.provider)
    : account.provider
  const isUnpaid = running?.awaitsFirstPayment() ?? false
  const { problem, form = null } = view
  // A code that was just rejected is not looked up again.
  const wanted = problem?.isOfCode ? withoutCode(form) : form
  const offer =
    !running || isUnpaid
      ? await readOffer({ plans, account, provider }, wanted, { t, logger: service.logger })
      : null
  const entry = createCardEntry(service, provider)
  const hasPortal = isCustomer && hasHostedPages(account.provider)
  const leadsAway = hasPortal || hasHostedPages(provider)
  const notice = problem ? null : findFormNotice(c.req.query('done'), t)
  return renderPage(
    c,
    {
      title: t('places.billing'),
      status: problem?.status ?? 200,
      policy: entry.policy,
      opensWindows: entry.opensWindows,
      formTargets: leadsAway ? listHostedPageOrigins(service) : [],
    },
    <BillingFrame>
      <div class="stack">
        <h1>{t('places.billing')}</h1>
        <SandboxControls canDecline={isCustomer} />
        <Note tone="bad" role="alert" text={problem?.message} />
        <Note tone={notice?.tone ?? 'good'} text={notice?.text} />
        {running && (
          <>
            <CurrentSubscription {...{ account, told }} subscription={running} />
            <OtherPlans account={account} subscription={running} />
          </>
        )}
        {(!running || isUnpaid) && (
          <Subscribe
            {...{ account, provider, entry, told, form }}
            offer={offer && problem ? { ...offer, problem: null } : offer}
            available={mayChoose ? available : []}
            asksForCard={isUnpaid || c.req.query('card') === 'new' || form?.has('token')}
          />
        )}
        {isCustomer && !isUnpaid && <PaymentMethods {...{ account, told, entry }} />}
        {hasPortal && <Portal provider={account.provider} />}
        <InvoiceDetails {...{ account, told }} form={view.form ?? null} />
        <Invoices {...told} isCustomer={isCustomer} />
        <ProviderScripts entry={entry} />
      </div>
    </BillingFrame>,
  )
}

/** The button for the provider's customer portal. The link is created on click. */
const Portal: FC<{ provider: ProviderName }> = (view) => {
  const { t } = usePage()
  const provider = PROVIDER_NAMES[view.provider]
  return (
    <section class="card" aria-labelledby="portal-title">
      <h2 id="portal-title">{t('portal.title', { provider })}</h2>
      <p>{t('portal.text')}</p>
      <OwnForm action="/billing/portal">
        <button type="submit">{t('portal.open', { provider })}</button>
      </OwnForm>
    </section>
  )
}

/**
 * Sends the PDF of a credit note. (The PDFs of invoices are served by the billing package itself.)
 */
export async function downloadCreditNote(c: Context<AppEnv>): Promise<Response> {
  const { service } = c.get('page')
  const { billable, provider } = await readAccount(c)
  const id = c.req.param('id') ?? ''
  const note = hasCreditNotes(provider) ? await billable.findCreditNote(id) : null
  if (!note) return c.notFound()
  return billable.downloadCreditNote(note.id, getSeller(service.config.settings))
}
