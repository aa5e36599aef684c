import type { CatalogPrice, Money, ProviderName } from '@tollgate/billing'
import type { Context, Hono } from 'hono'
import type { Child, FC } from 'hono/jsx'
import { AdminProblem } from '../../admin/problems.ts'
import type { AppEnv } from '../../http/variables.ts'
import { redactText } from '../../logger.ts'
import { formatAmount, type PageText } from '../../messages/messages.ts'
import { formatInterval, formatPeriod, formatUnits } from '../billing/model/plans.ts'
import {
  availableProviders,
  couponsCountBillingPeriods,
  hasPromotionCodes,
  PROVIDER_NAMES,
} from '../billing/model/providers.ts'
import { Heading, usePage } from '../parts/layout.tsx'
import { Day, Table } from '../parts/table.tsx'
import { Pager, renderAdmin, requireRole, runOperation } from './parts.tsx'

interface PlanJson {
  readonly id: string
  readonly name: string
  readonly price: Money
  readonly months: number
  readonly trial_days: number
  readonly provider_ids: Readonly<Record<ProviderName, string>>
  readonly subscriptions: number
}

interface PriceJson {
  readonly id: string
  readonly name: string | null
  readonly amount: Money | null
  readonly period: CatalogPrice['period']
  readonly trial_days: number | null
  readonly plan: string | null
  readonly subscriptions: number
}

interface CouponJson {
  readonly id: string
  readonly name: string | null
  readonly percent_off: number | null
  readonly amount_off: Money | null
  readonly lasts: 'once' | 'forever' | number
  readonly is_valid: boolean
}

interface CodeJson {
  readonly id: string
  readonly code: string
  readonly coupon: string
  readonly is_active: boolean
  readonly expires_at: string | null
  readonly left: number | null
}

/** A list of a provider on the page. */
interface ListView<Entry> {
  /** The operation that reads it. */
  readonly operation: string
  readonly title: 'adminPlans.prices' | 'adminPlans.coupons' | 'adminPlans.codes'
  columns(t: PageText): string[]
  cells(entry: Entry, view: { readonly t: PageText; readonly provider: ProviderName }): Child[]
}

/** The lists of a provider, each with its name in the URL. */
const LISTS = {
  prices: {
    operation: 'billing.listPrices',
    title: 'adminPlans.prices',
    columns: (t) => [
      t('adminPlans.name'),
      t('adminPlans.amount'),
      t('adminPlans.trial'),
      t('adminPlans.inConfiguration'),
      t('adminPlans.subscriptions'),
    ],
    cells: ({ id, name, amount, period, trial_days: days, plan, subscriptions }, { t }) => [
      <Named id={id} name={name} />,
      amount === null ? t('adminPlans.byUse') : formatPrice(amount, formatPeriod(period, t), t),
      formatTrial(days ?? 0, t),
      plan === null ? t('adminPlans.notConfigured') : <span class="badge good">{plan}</span>,
      subscriptions,
    ],
  } satisfies ListView<PriceJson>,
  coupons: {
    operation: 'billing.listCoupons',
    title: 'adminPlans.coupons',
    columns: (t) => [
      t('adminPlans.name'),
      t('adminPlans.off'),
      t('adminPlans.lasts'),
      t('adminPlans.state'),
    ],
    cells: ({ id, name, percent_off, amount_off, lasts, is_valid }, { t, provider }) => [
      <Named id={id} name={name} />,
      amount_off
        ? formatAmount(amount_off, t)
        : t('discount.percent', { percent: percent_off ?? 0 }),
      formatDuration(lasts, provider, t),
      <Usable is={is_valid} />,
    ],
  } satisfies ListView<CouponJson>,
  codes: {
    operation: 'billing.listPromotionCodes',
    title: 'adminPlans.codes',
    columns: (t) => [
      t('adminPlans.code'),
      t('adminPlans.coupon'),
      t('adminPlans.expires'),
      t('adminPlans.left'),
      t('adminPlans.state'),
    ],
    cells: ({ code, coupon, expires_at: expires, left, is_active }, { t }) => [
      <code>{code}</code>,
      <code>{coupon}</code>,
      expires === null ? t('adminPlans.never') : <Day at={new Date(expires)} />,
      left ?? t('adminPlans.unlimited'),
      <Usable is={is_active} />,
    ],
  } satisfies ListView<CodeJson>,
}

type ListName = keyof typeof LISTS

/** A page of a list, or the reason why it cannot be shown. */
interface ReadList {
  readonly name: ListName
  readonly provider: ProviderName
  readonly found: { readonly data: readonly unknown[]; readonly next: string | null } | AdminProblem
}

/**
 * Adds the page with the plans of the configuration, and with the prices, coupons and promotion
 * codes of the providers. Each list of a provider has its own pages, and its own message if the
 * provider does not answer.
 */
export function addPlansPage(app: Hono<AppEnv>): void {
  app.get('/admin/plans', requireRole('viewer'), async (c) => {
    const { t, service } = c.get('page')
    const providers = availableProviders(service)
    const [{ data: plans }, lists] = await Promise.all([
      runOperation<{ data: PlanJson[] }>(c, 'billing.listPlans', {}),
      Promise.all(providers.flatMap((provider) => readLists(c, provider))),
    ])
    return renderAdmin(
      c,
      { title: t('admin.plans') },
      <>
        <Heading title={t('admin.plans')} lead={t('adminPlans.lead')} />
        <PlanTable plans={plans} providers={providers} />
        {lists.map((list) => (
          <ListSection c={c} list={list} />
        ))}
      </>,
    )
  })
}

function readLists(c: Context<AppEnv>, provider: ProviderName): Promise<ReadList>[] {
  const names = Object.keys(LISTS) as ListName[]
  return names
    .filter((name) => name !== 'codes' || hasPromotionCodes(provider))
    .map(async (name) => {
      const after = c.req.query(queryName(provider, name))
      const input = { provider, ...(after !== undefined && { after }) }
      const found = await runOperation<Exclude<ReadList['found'], AdminProblem>>(
        c,
        LISTS[name].operation,
        input,
      ).catch((error) => {
        if (error instanceof AdminProblem && SHOWN.includes(error.problem)) return error
        throw error
      })
      return { name, provider, found }
    })
}

/** Problems that concern one list: the provider is away, or its cursor is no longer valid. */
const SHOWN: readonly string[] = [
  'provider-unavailable',
  'provider-refused',
  'invalid-cursor',
  'invalid-input',
]

/** Name of the parameter with the cursor of a list. */
const queryName = (provider: ProviderName, name: ListName) => `${provider}-${name}`

const PlanTable: FC<{ plans: readonly PlanJson[]; providers: readonly ProviderName[] }> = (
  props,
) => {
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby="configured">
      <h2 id="configured">{t('adminPlans.configured')}</h2>
      {props.plans.length === 0 ? (
        <p>{t('adminPlans.none')}</p>
      ) : (
        <Table
          caption={t('adminPlans.configured')}
          columns={[
            t('adminPlans.plan'),
            t('adminPlans.amount'),
            t('adminPlans.trial'),
            t('adminPlans.ids'),
            t('adminPlans.subscriptions'),
          ]}
          rows={props.plans.map((plan) => [
            <Named id={plan.id} name={plan.name} />,
            formatPrice(plan.price, formatInterval(plan, t), t),
            formatTrial(plan.trial_days, t),
            <ul class="plain">
              {props.providers.map((provider) => (
                <li>
                  {t.parts('adminPlans.id', {
                    provider: PROVIDER_NAMES[provider],
                    id: <code>{plan.provider_ids[provider]}</code>,
                  })}
                </li>
              ))}
            </ul>,
            plan.subscriptions,
          ])}
        />
      )}
    </section>
  )
}

const ListSection: FC<{ c: Context<AppEnv>; list: ReadList }> = ({ c, list }) => {
  const { t } = usePage()
  const { name, provider, found } = list
  const view: ListView<never> = LISTS[name]
  const id = queryName(provider, name)
  const title = t(view.title, { provider: PROVIDER_NAMES[provider] })
  const page = found instanceof AdminProblem ? null : found
  return (
    <section class="card stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {found instanceof AdminProblem ? (
        <p role="alert">{describeMissing(found, provider, t)}</p>
      ) : found.data.length === 0 ? (
        <p>{t('adminPlans.empty')}</p>
      ) : (
        <Table
          caption={title}
          columns={view.columns(t)}
          rows={found.data.map((entry) => view.cells(entry as never, { t, provider }))}
        />
      )}
      <Pager c={c} next={page?.next ?? null} list={{ name: id, title }} />
    </section>
  )
}

/** Says why a list is missing. A cursor can only be invalid if the URL was kept for long. */
function describeMissing(problem: AdminProblem, provider: ProviderName, t: PageText): Child {
  if (!problem.problem.startsWith('provider-')) return t('admin.problem.invalid-cursor')
  return t.parts('admin.detail', {
    text: t('adminPlans.away', { provider: PROVIDER_NAMES[provider] }),
    detail: <span lang="en">{redactText(problem.message)}</span>,
  })
}

/** The name of an object, and its id if that is another text. */
const Named: FC<{ id: string; name: string | null }> = ({ id, name }) =>
  name === null || name === id ? (
    <code>{id}</code>
  ) : (
    <>
      <bdi>{name}</bdi> <code>{id}</code>
    </>
  )

const Usable: FC<{ is: boolean }> = ({ is }) => {
  const { t } = usePage()
  return is ? (
    <span class="badge good">{t('adminPlans.usable')}</span>
  ) : (
    <span>{t('adminPlans.over')}</span>
  )
}

function formatPrice(price: Money, rhythm: string, t: PageText): string {
  return t('adminPlans.price', { amount: formatAmount(price, t), rhythm })
}

function formatTrial(days: number, t: PageText): string {
  return days === 0 ? t('adminPlans.noTrial') : formatUnits(days, 'day', t)
}

/** Describes how long a coupon applies. */
function formatDuration(lasts: CouponJson['lasts'], provider: ProviderName, t: PageText): string {
  if (typeof lasts === 'string') return t(`adminPlans.lasts.${lasts}`)
  if (couponsCountBillingPeriods(provider)) return t('adminPlans.lasts.periods', { count: lasts })
  return t('adminPlans.lasts.for', { period: formatUnits(lasts, 'month', t) })
}
