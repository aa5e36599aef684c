import type { ProviderName } from '@tollgate/billing'
import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import { getSeller } from '../../../config/seller.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { BillingForm, BillingFrame, Note, usePage } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import {
  listOtherPlans,
  mayChooseProvider,
  readAccount,
  readPlanUse,
  readProviderView,
} from '../model/account.ts'
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
import { Quotas } from '../sections/quotas.tsx'
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
  const { service, t, payer } = c.get('page')
  const account = await readAccount(c)
  const use = await readPlanUse(c)
  const { running, isCustomer } = account
  const { plans } = service.config.settings
  const hasOthers = listOtherPlans(plans, account).length > 0
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
      title: payer.membership
        ? t('teams.billing', { team: payer.membership.team.name })
        : t('places.billing'),
      status: problem?.status ?? 200,
      policy: entry.policy,
      opensWindows: entry.opensWindows,
      formTargets: leadsAway ? listHostedPageOrigins(service) : [],
    },
    <BillingFrame>
      <div class="stack">
        <BillingTitle />
        <SandboxControls canDecline={isCustomer && payer.membership === null} />
        <Note tone="bad" role="alert" text={problem?.message} />
        <Note tone={notice?.tone ?? 'good'} text={notice?.text} />
        {running && (
          <>
            <CurrentSubscription {...{ account, told }} subscription={running} />
            {use && <Quotas use={use} plansId={hasOthers ? 'plans-title' : null} />}
            <OtherPlans account={account} subscription={running} />
          </>
        )}
        {!running && use && <Quotas use={use} plansId={offer ? 'subscribe-title' : null} />}
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

/** The heading, which names the team that pays. */
const BillingTitle: FC = () => {
  const { t, payer } = usePage()
  if (payer.membership === null) return <h1>{t('places.billing')}</h1>
  const { id, name } = payer.membership.team
  return (
    <div>
      <h1>{t.parts('teams.billing', { team: <bdi>{name}</bdi> })}</h1>
      <p>
        <a href={`/teams/${id}`}>{t('teams.back')}</a>
      </p>
    </div>
  )
}

/** The button for the provider's customer portal. The link is created on click. */
const Portal: FC<{ provider: ProviderName }> = (view) => {
  const { t } = usePage()
  const provider = PROVIDER_NAMES[view.provider]
  return (
    <section class="card" aria-labelledby="portal-title">
      <h2 id="portal-title">{t('portal.title', { provider })}</h2>
      <p>{t('portal.text', { provider })}</p>
      <BillingForm action="/portal">
        <button type="submit">{t('portal.open', { provider })}</button>
      </BillingForm>
    </section>
  )
}

/** Sends the PDF of an invoice of a team. Those of a person are served by the billing package. */
export async function downloadInvoice(c: Context<AppEnv>): Promise<Response> {
  const { service } = c.get('page')
  const { billable } = await readAccount(c)
  const invoice = await billable.findInvoice(c.req.param('id') ?? '')
  if (!invoice) return c.notFound()
  return billable.downloadInvoice(invoice.id, getSeller(service.config.settings))
}

/**
 * Handles the return of a team's browser from a checkout: reads the new subscription, because the
 * webhook may not have arrived yet.
 */
export async function showSubscribed(c: Context<AppEnv>): Promise<Response> {
  const { billable, isCustomer, path } = await readAccount(c)
  if (isCustomer) await billable.sync()
  return c.redirect(`${path}?done=subscribed`, 303)
}

/** Sends the PDF of a credit note. */
export async function downloadCreditNote(c: Context<AppEnv>): Promise<Response> {
  const { service } = c.get('page')
  const { billable, provider } = await readAccount(c)
  const id = c.req.param('id') ?? ''
  const note = hasCreditNotes(provider) ? await billable.findCreditNote(id) : null
  if (!note) return c.notFound()
  return billable.downloadCreditNote(note.id, getSeller(service.config.settings))
}
